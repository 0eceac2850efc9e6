//! The outcome of a call: a response, a refusal, or unknown.

use std::fmt;

use order::ports::Failure;
use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode, header};
use serde::de::DeserializeOwned;

/// A response of any status. It may hold personal data, so `Debug` shows only the status.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpResponse {
    pub status: u16,
    pub headers: HeaderMap,
    pub content_type: Option<String>,
    pub body: Vec<u8>,
}

/// Why a call has no usable response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallError {
    /// It certainly did not happen.
    Refused(CallErrorKind),
    /// It may have happened.
    Lost(CallErrorKind),
}

/// The class of the failure. It holds no text from outside, so it can be logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallErrorKind {
    /// No connection: DNS, TCP or TLS failed.
    Unconnected,
    /// An untrusted URL whose host is in a private network.
    NotPublic,
    /// The request cannot be encoded.
    Unsendable,
    /// Our own budget for this peer is used up.
    NoBudget,
    TimedOut,
    /// The connection closed, or was not HTTP, before the response was complete.
    Broken,
    TooLarge,
    /// Compressed, although `identity` was requested.
    Encoded,
    /// A 2xx response that cannot be parsed.
    Unreadable,
    Status(u16),
}

impl fmt::Display for CallErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unconnected => "no connection",
            Self::NotPublic => "not a public address",
            Self::Unsendable => "cannot be written",
            Self::NoBudget => "budget used up",
            Self::TimedOut => "no answer in time",
            Self::Broken => "answer cut off",
            Self::TooLarge => "answer too large",
            Self::Encoded => "answer compressed",
            Self::Unreadable => "answer unreadable",
            Self::Status(status) => return write!(f, "status {status}"),
        })
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) => write!(f, "refused: {why}"),
            Self::Lost(why) => write!(f, "lost: {why}"),
        }
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused(why) => Self::Refused(why.to_string()),
            CallError::Lost(why) => Self::Lost(why.to_string()),
        }
    }
}

impl HttpResponse {
    /// Parses a 2xx response. After any other status, or a body that does not parse, the effect
    /// is unknown.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, CallError> {
        if !self.is_success() {
            return Err(self.lost());
        }
        self.body_as().ok_or(CallError::Lost(CallErrorKind::Unreadable))
    }

    /// Parses the body of any status, an object: some errors have one too. An array would be read
    /// as the fields of a struct in their order.
    pub fn body_as<T: DeserializeOwned>(&self) -> Option<T> {
        self.parse_from(b'{')
    }

    /// Parses the body of any status, an array.
    pub fn members_as<T: DeserializeOwned>(&self) -> Option<Vec<T>> {
        self.parse_from(b'[')
    }

    fn parse_from<T: DeserializeOwned>(&self, first: u8) -> Option<T> {
        let body = self.body.trim_ascii_start();
        if body.first() == Some(&first) { serde_json::from_slice(body).ok() } else { None }
    }

    /// The header of that name, if present and text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub const fn is_success(&self) -> bool {
        matches!(self.status, 200..=299)
    }

    /// The status as an error whose effect is unknown.
    pub const fn lost(&self) -> CallError {
        CallError::Lost(CallErrorKind::Status(self.status))
    }

    /// The status as an error that proves that nothing was accepted.
    pub const fn refused(&self) -> CallError {
        CallError::Refused(CallErrorKind::Status(self.status))
    }
}

impl fmt::Debug for HttpResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpResponse").field("status", &self.status).finish_non_exhaustive()
    }
}

/// Classifies an error before the response head.
///
/// Only an error of the connector itself (name, port, handshake) proves that no
/// byte of the request was written. A connection from the pool that turns out
/// to be closed proves nothing: its server may have read the request first.
/// Where the client knows that a request never left its queue, it takes a new
/// connection by itself; that is still one call for the server.
pub(super) fn classify(error: &reqwest::Error) -> CallError {
    if error.is_builder() {
        CallError::Refused(CallErrorKind::Unsendable)
    } else if error.is_connect() {
        CallError::Refused(CallErrorKind::Unconnected)
    } else if error.is_timeout() {
        CallError::Lost(CallErrorKind::TimedOut)
    } else {
        CallError::Lost(CallErrorKind::Broken)
    }
}

/// Reads the body up to its limit. The request was sent, so every error from here on is `Lost`.
pub(super) async fn read(mut response: Response, most: usize) -> Result<HttpResponse, CallError> {
    let status = response.status();
    if response
        .headers()
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .any(|coding| coding != "identity")
    {
        return Err(body_error(status, CallErrorKind::Encoded));
    }
    let text = |value: &header::HeaderValue| value.to_str().ok().map(str::to_owned);
    let content_type = response.headers().get(header::CONTENT_TYPE).and_then(text);
    let announced = response.content_length().map(usize::try_from);
    if announced.is_some_and(|length| length.map_or(true, |length| length > most)) {
        return Err(body_error(status, CallErrorKind::TooLarge));
    }
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if chunk.len() > most - body.len() => {
                return Err(body_error(status, CallErrorKind::TooLarge));
            }
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => {
                let headers = response.headers().clone();
                return Ok(HttpResponse { status: status.as_u16(), headers, content_type, body });
            }
            Err(_) => return Err(body_error(status, CallErrorKind::Broken)),
        }
    }
}

/// If the body cannot be read, an error status says more than the body's fault.
fn body_error(status: StatusCode, why: CallErrorKind) -> CallError {
    if status.is_success() {
        CallError::Lost(why)
    } else {
        CallError::Lost(CallErrorKind::Status(status.as_u16()))
    }
}
