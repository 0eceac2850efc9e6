//! A call to either interface.

use axum::http::{HeaderMap, Method};
use serde_json::Value;
use url::form_urlencoded;

pub(crate) struct ApiRequest<'a> {
    pub(crate) method: &'a Method,
    /// Below the prefix of the interface.
    pub(crate) path: &'a str,
    pub(crate) query: &'a str,
    pub(crate) headers: &'a HeaderMap,
    /// Null if there was none.
    pub(crate) body: Value,
}

impl ApiRequest<'_> {
    pub(crate) fn query_value(&self, name: &str) -> Option<String> {
        self.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    pub(crate) fn query_pairs(&self) -> impl Iterator<Item = (String, String)> {
        form_urlencoded::parse(self.query.as_bytes()).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// A number in the query, or what is usual.
    pub(crate) fn number(&self, name: &str, usual: usize) -> Result<usize, NotANumber> {
        self.query_value(name).map_or(Ok(usual), |text| text.parse().map_err(|_| NotANumber))
    }
}

pub(crate) struct NotANumber;
