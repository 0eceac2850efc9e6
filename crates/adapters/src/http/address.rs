//! The address of a peer, as the operator wrote it down or a stranger chose it.

use std::fmt;

use reqwest::Url;

/// Absolute, `https` (or plain on this very machine), without a user name. It
/// may hold a key in its path or query, so it does not print itself.
#[derive(Clone, PartialEq, Eq)]
pub struct Address(Url);

/// Why an address is not taken, one variant for each thing that can be mended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAnAddress {
    NotAUrl,
    NotHttps,
    UserInfo,
    Fragment,
}

impl std::error::Error for NotAnAddress {}

impl fmt::Display for NotAnAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAUrl => {
                "This is not a complete address; write https://, a host name and a path."
            }
            Self::NotHttps => {
                "This address does not begin with https://; plain http:// is only for this very \
                 machine, as in http://127.0.0.1:8700."
            }
            Self::UserInfo => {
                "This address contains a user name or a password; remove everything up to the @ \
                 and use the setting for the key."
            }
            Self::Fragment => "This address contains a #; remove it and what follows.",
        })
    }
}

impl Address {
    pub fn parse(text: &str) -> Result<Self, NotAnAddress> {
        let url = Url::parse(text).map_err(|_| NotAnAddress::NotAUrl)?;
        let host = url.host_str().ok_or(NotAnAddress::NotAUrl)?;
        let here = matches!(host, "127.0.0.1" | "[::1]" | "localhost");
        if !(url.scheme() == "https" || url.scheme() == "http" && here) {
            return Err(NotAnAddress::NotHttps);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(NotAnAddress::UserInfo);
        }
        if url.fragment().is_some() {
            return Err(NotAnAddress::Fragment);
        }
        Ok(Self(url))
    }

    /// A place below this one. Each part is one step, whatever is in it: a name
    /// that a server gave us cannot climb out.
    #[must_use]
    pub fn below(&self, parts: &[&str]) -> Self {
        let mut url = self.0.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(parts);
        }
        Self(url)
    }

    /// The same place with one more question in its query.
    #[must_use]
    pub fn asking(&self, name: &str, value: &str) -> Self {
        let mut url = self.0.clone();
        url.query_pairs_mut().append_pair(name, value);
        Self(url)
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

    /// Host, port and path without the scheme, as signed tokens name a place.
    pub(crate) fn without_scheme(&self) -> String {
        format!("{}{}", self.0.authority(), self.0.path())
    }

    pub fn is_https(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// Whether this lies in that folder of that very origin.
    pub(crate) fn is_below(&self, place: &Self) -> bool {
        let folder = place.0.path().trim_end_matches('/');
        let inside = self.0.path().strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        self.0.origin() == place.0.origin() && inside
    }

    /// The whole address, for an answer to a caller; never for a log.
    pub(crate) fn to_text(&self) -> String {
        self.0.as_str().to_owned()
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Address").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_https_or_on_this_very_machine() {
        for good in [
            "https://api.example.org/v2",
            "https://api.example.org/?key=1",
            "http://127.0.0.1:8700",
            "http://[::1]:8700/",
            "http://localhost:1",
        ] {
            assert!(Address::parse(good).is_ok(), "{good}");
        }
        for (bad, fault) in [
            ("api.example.org", NotAnAddress::NotAUrl),
            ("", NotAnAddress::NotAUrl),
            ("data:text/plain,hello", NotAnAddress::NotAUrl),
            ("http://api.example.org", NotAnAddress::NotHttps),
            ("http://127.0.0.1.example.org", NotAnAddress::NotHttps),
            ("ftp://127.0.0.1", NotAnAddress::NotHttps),
            ("https://key@api.example.org", NotAnAddress::UserInfo),
            ("https://:key@api.example.org", NotAnAddress::UserInfo),
            ("https://api.example.org/#part", NotAnAddress::Fragment),
        ] {
            assert_eq!(Address::parse(bad), Err(fault), "{bad}");
        }
    }

    #[test]
    fn no_part_climbs_out_of_its_place() {
        let base = Address::parse("https://api.example.org/v2/").unwrap();
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
