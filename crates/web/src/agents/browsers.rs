//! What lets a page of any origin register: the token is for everybody, and no cookie exists.

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

/// Answers every preflight and opens every other answer to all origins, errors
/// included: a page that cannot read an error cannot act on it.
pub(super) async fn welcome(request: Request, next: Next) -> Response {
    let mut response =
        if request.method() == Method::OPTIONS { preflight() } else { next.run(request).await };
    response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}

fn preflight() -> Response {
    let headers = [
        (ACCESS_CONTROL_ALLOW_METHODS, "POST, OPTIONS"),
        (ACCESS_CONTROL_ALLOW_HEADERS, "content-type, authorization"),
        (ACCESS_CONTROL_MAX_AGE, PREFLIGHT_SECONDS),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}
