//! The discovery version of a request.

use http::{HeaderMap, HeaderName, HeaderValue};

pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-service-api-version");
pub(crate) const CURRENT: HeaderValue = HeaderValue::from_static("1");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestedVersion {
    Current,
    Unsupported,
}

/// Two header lines are a list, which is not a version.
pub(crate) fn requested(headers: &HeaderMap) -> RequestedVersion {
    let mut lines = headers.get_all(HEADER).into_iter();
    match (lines.next(), lines.next()) {
        (None, _) => RequestedVersion::Current,
        (Some(line), None) if line == CURRENT => RequestedVersion::Current,
        (Some(_), _) => RequestedVersion::Unsupported,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_current_version_is_1_or_no_header() {
        assert_eq!(requested(&HeaderMap::new()), RequestedVersion::Current);
        for (value, expected) in [
            ("1", RequestedVersion::Current),
            ("2", RequestedVersion::Unsupported),
            ("0", RequestedVersion::Unsupported),
            ("01", RequestedVersion::Unsupported),
            ("1.0", RequestedVersion::Unsupported),
            ("latest", RequestedVersion::Unsupported),
            ("", RequestedVersion::Unsupported),
            ("1, 1", RequestedVersion::Unsupported),
        ] {
            let headers = [(HEADER, value.parse().unwrap())].into_iter().collect();
            assert_eq!(requested(&headers), expected, "{value:?}");
        }
        let mut twice = HeaderMap::new();
        twice.append(HEADER, CURRENT);
        twice.append(HEADER, CURRENT);
        assert_eq!(requested(&twice), RequestedVersion::Unsupported);
    }
}
