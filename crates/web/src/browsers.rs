//! What lets a page of any origin use a door: all is public, and no cookie exists.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_MAX_AGE,
};
use http::{HeaderValue, Method, StatusCode};

/// A day. These words do not change between releases, and browsers shorten it
/// as they see fit.
const PREFLIGHT_SECONDS: &str = "86400";

/// What a page may send to a door.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Welcome {
    pub(crate) methods: &'static str,
    pub(crate) headers: &'static str,
}

impl Welcome {
    /// Answers every preflight and opens every other answer to all origins, errors
    /// included: a page that cannot read an error cannot act on it.
    pub(crate) async fn admit(self, request: Request, next: Next) -> Response {
        if request.method() == Method::OPTIONS {
            return self.preflight();
        }
        let mut response = next.run(request).await;
        response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        response
    }

    pub(crate) fn preflight(self) -> Response {
        let headers = [
            (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
            (ACCESS_CONTROL_ALLOW_METHODS, self.methods),
            (ACCESS_CONTROL_ALLOW_HEADERS, self.headers),
            (ACCESS_CONTROL_MAX_AGE, PREFLIGHT_SECONDS),
        ];
        (StatusCode::NO_CONTENT, headers).into_response()
    }
}
