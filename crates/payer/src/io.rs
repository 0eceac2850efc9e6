//! What the payer needs of the outside: HTTP, time and a console.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use http::HeaderMap;
use serde_json::Value;
use serde_json::value::RawValue;

#[async_trait]
pub trait PayerIo: Send + Sync {
    /// What is wrong with a URL to which no request may be sent.
    fn check_url(&self, url: &str) -> Result<(), String>;

    /// Sends a request once.
    async fn send(&self, request: HttpRequest) -> Result<PayerResponse, NoResponse>;

    /// Seconds since 1970.
    fn now(&self) -> u64;

    async fn wait(&self, seconds: u64);

    /// Writes to standard output.
    fn print(&self, text: &str);

    /// Writes to standard error.
    fn print_error(&self, text: &str);
}

/// A request; with a body it is a POST of JSON, without one a GET.
pub struct HttpRequest {
    /// What logs call the other side.
    pub peer: &'static str,
    pub url: String,
    /// A header that no log may show.
    pub secret_header: Option<(&'static str, String)>,
    pub body: Option<Box<RawValue>>,
    /// None for the usual limit.
    pub timeout: Option<Duration>,
}

impl HttpRequest {
    pub(crate) fn get(peer: &'static str, url: String) -> Self {
        Self { peer, url, secret_header: None, body: None, timeout: None }
    }

    pub(crate) fn post(peer: &'static str, url: String, body: Box<RawValue>) -> Self {
        Self { body: Some(body), ..Self::get(peer, url) }
    }
}

/// A response with any status. It may contain personal data, so only its status prints.
#[derive(Clone, PartialEq, Eq)]
pub struct PayerResponse {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// Why there is no usable response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoResponse {
    /// The request was certainly not processed.
    Refused(String),
    /// It may have been processed.
    Lost(String),
}

impl fmt::Display for NoResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(reason) => write!(f, "refused: {reason}"),
            Self::Lost(reason) => write!(f, "lost: {reason}"),
        }
    }
}

impl PayerResponse {
    /// The header of that name, if it is there and is text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The body as JSON; null if it is none.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The JSON of a good response.
    pub(crate) fn good_json(&self) -> Result<Value, NoResponse> {
        if !(200..=299).contains(&self.status) {
            return Err(self.lost());
        }
        let unreadable = |_| NoResponse::Lost("answer unreadable".to_owned());
        serde_json::from_slice(&self.body).map_err(unreadable)
    }

    pub(crate) fn lost(&self) -> NoResponse {
        NoResponse::Lost(format!("status {}", self.status))
    }
}

impl fmt::Debug for PayerResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PayerResponse").field("status", &self.status).finish_non_exhaustive()
    }
}
