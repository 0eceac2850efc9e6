//! How the house says that something is wrong, in one shape for all doors.

use axum::Json;
use axum::http::header::{CACHE_CONTROL, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// How long a caller should wait before knocking again after a passing fault.
pub const RETRY_AFTER_SECONDS: HeaderValue = HeaderValue::from_static("2");

/// What a caller may do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Retry {
    /// The same request again, later.
    Same,
    /// This request will not get better by repetition.
    Never,
}

/// A fault in words that hold nothing the caller sent, so that an error can
/// never carry personal data into a log or a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    pub status: StatusCode,
    pub code: &'static str,
    pub message: &'static str,
    pub retry: Retry,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body =
            Body { error: Fault { code: self.code, message: self.message, retry: self.retry } };
        let mut response = (self.status, Json(body)).into_response();
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self.retry == Retry::Same {
            headers.insert(RETRY_AFTER, RETRY_AFTER_SECONDS);
        }
        response
    }
}

pub async fn not_found() -> Problem {
    Problem {
        status: StatusCode::NOT_FOUND,
        code: "not_found",
        message: "Nothing lives at this address. /openapi.json lists every endpoint, and \
                  /llms.txt is the guide for agents.",
        retry: Retry::Never,
    }
}

/// The router adds the `Allow` header, as it alone knows the route's methods.
pub async fn method_not_allowed() -> Problem {
    Problem {
        status: StatusCode::METHOD_NOT_ALLOWED,
        code: "method_not_allowed",
        message: "This address exists, but not for this method. The Allow header names the \
                  methods that it takes.",
        retry: Retry::Never,
    }
}

#[derive(Serialize)]
struct Body {
    error: Fault,
}

#[derive(Serialize)]
struct Fault {
    code: &'static str,
    message: &'static str,
    retry: Retry,
}
