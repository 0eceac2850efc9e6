//! Which version of the discovery contract a caller asks for.

use http::{HeaderMap, HeaderName, HeaderValue};

pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-service-api-version");
pub(crate) const CURRENT: HeaderValue = HeaderValue::from_static("1");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Current,
    Unknown,
}

/// Two lines of a header mean their list, and a list is no version.
pub(crate) fn asked(headers: &HeaderMap) -> Asked {
    let mut lines = headers.get_all(HEADER).into_iter();
    match (lines.next(), lines.next()) {
        (None, _) => Asked::Current,
        (Some(line), None) if line == CURRENT => Asked::Current,
        (Some(_), _) => Asked::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_and_nothing_at_all_are_the_current_version() {
        assert_eq!(asked(&HeaderMap::new()), Asked::Current);
        for (value, expected) in [
            ("1", Asked::Current),
            ("2", Asked::Unknown),
            ("0", Asked::Unknown),
            ("01", Asked::Unknown),
            ("1.0", Asked::Unknown),
            ("latest", Asked::Unknown),
            ("", Asked::Unknown),
            ("1, 1", Asked::Unknown),
        ] {
            let headers = [(HEADER, value.parse().unwrap())].into_iter().collect();
            assert_eq!(asked(&headers), expected, "{value:?}");
        }
        let mut twice = HeaderMap::new();
        twice.append(HEADER, CURRENT);
        twice.append(HEADER, CURRENT);
        assert_eq!(asked(&twice), Asked::Unknown);
    }
}
