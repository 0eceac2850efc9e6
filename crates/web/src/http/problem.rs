//! Errors of endpoints without a payment protocol, in one JSON format.

use std::borrow::Cow;
use std::num::NonZeroU64;

use axum::Json;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, CACHE_CONTROL, CONTENT_TYPE,
    RETRY_AFTER,
};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::json;

/// How long a caller should wait after a temporary error.
pub const RETRY_AFTER_SECONDS: HeaderValue = HeaderValue::from_static("2");

/// The headers of an error that a script on another site may read. Endpoints that send more
/// headers list them themselves.
pub(crate) const EXPOSED: HeaderValue = HeaderValue::from_static("Retry-After, X-Request-Id");

/// What a caller may do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Retry {
    /// The same request again, later.
    Same,
    /// Repeating this request does not help.
    Never,
}

/// An error. Its text contains nothing that the caller sent, so it never carries personal data
/// into a log or a cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub status: StatusCode,
    pub code: &'static str,
    pub message: Cow<'static, str>,
    pub retry: Retry,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body =
            Body { error: Fault { code: self.code, message: self.message, retry: self.retry } };
        let mut response = (self.status, Json(body)).into_response();
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        if self.retry == Retry::Same {
            headers.insert(RETRY_AFTER, RETRY_AFTER_SECONDS);
        }
        response
    }
}

pub const NOT_FOUND: Problem = Problem {
    status: StatusCode::NOT_FOUND,
    code: "not_found",
    message: Cow::Borrowed(
        "Nothing lives at this address. /openapi.json lists every endpoint, and /llms.txt is \
         the guide for agents.",
    ),
    retry: Retry::Never,
};

/// The caller adds the `Allow` header with the methods of the endpoint.
pub const METHOD_NOT_ALLOWED: Problem = Problem {
    status: StatusCode::METHOD_NOT_ALLOWED,
    code: "method_not_allowed",
    message: Cow::Borrowed(
        "This address exists, but not for this method. The Allow header names the methods \
         that it takes.",
    ),
    retry: Retry::Never,
};

/// The router adds the `Allow` header.
pub async fn method_not_allowed() -> Problem {
    METHOD_NOT_ALLOWED
}

/// A part of the service that this installation does not offer.
pub const NOT_CONFIGURED: Problem = Problem {
    status: StatusCode::SERVICE_UNAVAILABLE,
    code: "not_configured",
    message: Cow::Borrowed(
        "This part of the service is not switched on here. Nothing was sent or charged.",
    ),
    retry: Retry::Never,
};

/// The shared quota is used up. The problem type is the registered one.
pub(crate) fn quota_exhausted(reset_seconds: NonZeroU64) -> Response {
    let problem = Problem {
        status: StatusCode::TOO_MANY_REQUESTS,
        code: "rate_limited",
        message: Cow::Borrowed(
            "The quota that all callers share is used up. Wait as long as Retry-After says.",
        ),
        retry: Retry::Same,
    };
    let mut response = detailed(
        problem,
        "https://iana.org/assignments/http-problem-types#quota-exceeded",
        &json!({ "violated-policies": ["public-discovery"] }),
    );
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(reset_seconds.get()));
    response
}

pub(crate) fn unknown_version() -> Response {
    let problem = Problem {
        status: StatusCode::BAD_REQUEST,
        code: "unsupported_version",
        message: Cow::Borrowed("X-Service-API-Version takes the value 1, or may be left out."),
        retry: Retry::Never,
    };
    detailed(problem, "about:blank", &json!({ "supported_versions": ["1"] }))
}

/// For endpoints whose errors are problem documents.
pub(crate) fn document(problem: Problem) -> Response {
    detailed(problem, "about:blank", &json!({}))
}

/// A problem document (RFC 9457) that also contains our own format.
fn detailed(problem: Problem, kind: &str, more: &serde_json::Value) -> Response {
    let Problem { status, code, message, retry } = problem.clone();
    let mut body = json!({
        "type": kind,
        "title": status.canonical_reason(),
        "status": status.as_u16(),
        "detail": message,
        "error": Fault { code, message, retry },
    });
    if let (Some(body), Some(more)) = (body.as_object_mut(), more.as_object()) {
        body.extend(more.clone());
    }
    let mut response = problem.into_response();
    let kind = HeaderValue::from_static("application/problem+json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response.map(|_| axum::body::Body::from(body.to_string()))
}

#[derive(Serialize)]
struct Body {
    error: Fault,
}

#[derive(Serialize)]
struct Fault {
    code: &'static str,
    message: Cow<'static, str>,
    retry: Retry,
}
