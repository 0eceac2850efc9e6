//! What the desk refuses, in the one shape of all faults.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, CACHE_CONTROL, RETRY_AFTER,
};
use order::refusal::Refusal;
use pay::envelope::verdict;
use pay::fault;

use crate::draft::{MALFORMED, Unread};
use crate::problem::EXPOSED;

/// The answer to a refusal where no way of paying dresses it further.
pub(crate) fn refused(refusal: &Refusal) -> Response {
    let status = verdict(refusal).status;
    let mut response = (status, Json(fault::body(refusal))).into_response();
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    if let Some(seconds) = fault::wait(refusal) {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// The answer to a request without a card that reads.
pub(crate) fn unread(why: &Unread) -> Response {
    match why {
        Unread::Refused(refusal) => refused(refusal),
        Unread::Malformed => {
            let mut response = (MALFORMED.status, Json(fault::muddled(&MALFORMED))).into_response();
            let headers = response.headers_mut();
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
            response
        }
    }
}
