//! The answers to refusals at endpoints without a payment protocol.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, CACHE_CONTROL, RETRY_AFTER,
};
use order::refusal::Refusal;
use pay::error_body::{bad_request_body, refusal_body};
use pay::refusal_table::{BadRequest, HttpError};
use serde_json::Value;

use crate::http::problem::EXPOSED;
use crate::routes::draft::DraftError;

/// The answer to a refusal.
pub(crate) fn refused(refusal: &Refusal) -> Response {
    answer(&HttpError::from(refusal), refusal_body(refusal))
}

/// The answer to a request whose body is not a postcard.
pub(crate) fn unread(why: &DraftError) -> Response {
    match why {
        DraftError::Refused(refusal) => refused(refusal),
        DraftError::MalformedJson => {
            let why = BadRequest::MalformedJson;
            answer(&HttpError::from(&why), bad_request_body(&why))
        }
    }
}

fn answer(error: &HttpError, body: Value) -> Response {
    let mut response = (error.status, Json(body)).into_response();
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    if let Some(seconds) = error.retry_after_seconds {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}
