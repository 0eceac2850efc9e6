//! An absolute URL of another system.

use std::fmt;

use reqwest::Url;

/// Absolute, `https` (or `http` on this machine), without user information. Path and query may
/// hold a key, so `Debug` does not show them.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpUrl(Url);

/// Why a URL is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpUrlError {
    NotAUrl,
    NotHttps,
    UserInfo,
    Fragment,
}

impl std::error::Error for HttpUrlError {}

impl fmt::Display for HttpUrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAUrl => "This is not a complete URL; write https://, a host name and a path.",
            Self::NotHttps => {
                "This URL does not begin with https://; http:// is only allowed for this \
                 machine, as in http://127.0.0.1:8700."
            }
            Self::UserInfo => {
                "This URL contains a user name or a password; remove everything up to the @ \
                 and use the setting for the key."
            }
            Self::Fragment => "This URL contains a #; remove it and what follows.",
        })
    }
}

impl HttpUrl {
    pub fn parse(text: &str) -> Result<Self, HttpUrlError> {
        let url = Url::parse(text).map_err(|_| HttpUrlError::NotAUrl)?;
        let host = url.host_str().ok_or(HttpUrlError::NotAUrl)?;
        let here = matches!(host, "127.0.0.1" | "[::1]" | "localhost");
        if !(url.scheme() == "https" || url.scheme() == "http" && here) {
            return Err(HttpUrlError::NotHttps);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(HttpUrlError::UserInfo);
        }
        if url.fragment().is_some() {
            return Err(HttpUrlError::Fragment);
        }
        Ok(Self(url))
    }

    /// Appends path segments. Each part is one segment, whatever it contains: an id from a server
    /// cannot leave the base path.
    #[must_use]
    pub fn below(&self, parts: &[&str]) -> Self {
        let mut url = self.0.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(parts);
        }
        Self(url)
    }

    /// Appends a query parameter.
    #[must_use]
    pub fn asking(&self, name: &str, value: &str) -> Self {
        let mut url = self.0.clone();
        url.query_pairs_mut().append_pair(name, value);
        Self(url)
    }

    /// The value of a query parameter.
    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        let mut pairs = self.0.query_pairs();
        pairs.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    }

    pub(super) const fn url(&self) -> &Url {
        &self.0
    }

    pub(super) fn into_url(self) -> Url {
        self.0
    }

    /// Scheme, host and port.
    pub fn origin(&self) -> String {
        self.0.origin().ascii_serialization()
    }

    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// Host, port and path without the scheme, as CDP tokens name an endpoint.
    pub(crate) fn without_scheme(&self) -> String {
        format!("{}{}", self.0.authority(), self.0.path())
    }

    pub fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// Whether this URL is in the folder of `place`, on the same origin.
    pub(crate) fn is_below(&self, place: &Self) -> bool {
        let folder = place.0.path().trim_end_matches('/');
        let inside = self.0.path().strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        self.0.origin() == place.0.origin() && inside
    }

    /// The whole URL, for a response to a caller; never for the log.
    pub(crate) fn to_text(&self) -> String {
        self.0.as_str().to_owned()
    }
}

impl fmt::Debug for HttpUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HttpUrl").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_https_or_on_this_machine() {
        for good in [
            "https://api.example.org/v2",
            "https://api.example.org/?key=1",
            "http://127.0.0.1:8700",
            "http://[::1]:8700/",
            "http://localhost:1",
        ] {
            assert!(HttpUrl::parse(good).is_ok(), "{good}");
        }
        for (bad, fault) in [
            ("api.example.org", HttpUrlError::NotAUrl),
            ("", HttpUrlError::NotAUrl),
            ("data:text/plain,hello", HttpUrlError::NotAUrl),
            ("http://api.example.org", HttpUrlError::NotHttps),
            ("http://127.0.0.1.example.org", HttpUrlError::NotHttps),
            ("ftp://127.0.0.1", HttpUrlError::NotHttps),
            ("https://key@api.example.org", HttpUrlError::UserInfo),
            ("https://:key@api.example.org", HttpUrlError::UserInfo),
            ("https://api.example.org/#part", HttpUrlError::Fragment),
        ] {
            assert_eq!(HttpUrl::parse(bad), Err(fault), "{bad}");
        }
    }

    #[test]
    fn no_segment_leaves_the_base_path() {
        let base = HttpUrl::parse("https://api.example.org/v2/").unwrap();
        let below = base.below(&["orders", "../../admin?x=#y", "track"]);
        assert_eq!(
            below.url().as_str(),
            "https://api.example.org/v2/orders/..%2F..%2Fadmin%3Fx=%23y/track"
        );
        let asking = base.below(&["list"]).asking("metadata[a]", "b&c=d");
        assert_eq!(
            asking.url().as_str(),
            "https://api.example.org/v2/list?metadata%5Ba%5D=b%26c%3Dd"
        );
    }
}
