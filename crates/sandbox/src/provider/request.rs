//! A call to one of the two surfaces, as far as both read it alike.

use axum::http::{HeaderMap, Method};
use serde_json::Value;
use url::form_urlencoded;

pub(crate) struct Request<'a> {
    pub(crate) method: &'a Method,
    /// Below the surface's own prefix.
    pub(crate) path: &'a str,
    pub(crate) query: &'a str,
    pub(crate) headers: &'a HeaderMap,
    /// Null if there was none.
    pub(crate) body: Value,
}

impl Request<'_> {
    pub(crate) fn asked(&self, name: &str) -> Option<String> {
        self.every_asked().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    pub(crate) fn every_asked(&self) -> impl Iterator<Item = (String, String)> {
        form_urlencoded::parse(self.query.as_bytes()).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// A number in the query, or what is usual.
    pub(crate) fn number(&self, name: &str, usual: usize) -> Result<usize, NotANumber> {
        self.asked(name).map_or(Ok(usual), |text| text.parse().map_err(|_| NotANumber))
    }
}

pub(crate) struct NotANumber;
