//! A response before it is sent.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use serde_json::Value;

/// In every response, so that it is not taken for the real provider's.
pub(crate) const NOTICE_HEADER: &str = "x-sandbox";
pub(crate) const NOTICE: &str = "This is a sandbox: no money moves, no card is mailed.";

pub(crate) const JSON: &str = "application/json";
pub(crate) const HTML: &str = "text/html; charset=utf-8";
pub(crate) const SVG: &str = "image/svg+xml";

#[derive(Clone)]
pub(crate) struct EmulatedResponse {
    pub(crate) status: u16,
    pub(crate) kind: &'static str,
    pub(crate) body: Vec<u8>,
    pub(crate) headers: Vec<(&'static str, String)>,
    /// The cards that it contains.
    pub(crate) cards: Vec<u64>,
}

impl IntoResponse for EmulatedResponse {
    fn into_response(self) -> Response<Body> {
        Self::into_response(self)
    }
}

impl EmulatedResponse {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::new(status, JSON, body.to_string())
    }

    pub(crate) fn new(status: u16, kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status, kind, body: body.into(), headers: Vec::new(), cards: Vec::new() }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn about(mut self, cards: impl IntoIterator<Item = u64>) -> Self {
        self.cards.extend(cards);
        self
    }

    pub(crate) fn into_response(self) -> Response<Body> {
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.kind));
        headers.insert(NOTICE_HEADER, HeaderValue::from_static(NOTICE));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
        for (name, value) in self.headers {
            if let Ok(value) = HeaderValue::try_from(value) {
                headers.insert(name, value);
            }
        }
        response
    }

    /// The head of a response that is written directly to the socket.
    pub(crate) fn head(&self, lengths: &[usize]) -> Vec<u8> {
        let reason = StatusCode::from_u16(self.status).ok().and_then(|s| s.canonical_reason());
        let (status, reason) = (self.status, reason.unwrap_or_default());
        let mut head = format!("HTTP/1.1 {status} {reason}\r\ncontent-type: {}\r\n", self.kind);
        for length in lengths {
            head.push_str(&format!("content-length: {length}\r\n"));
        }
        head.push_str(&format!("{NOTICE_HEADER}: {NOTICE}\r\nconnection: close\r\n\r\n"));
        head.into_bytes()
    }
}
