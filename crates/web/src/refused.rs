//! What the desk refuses, in the one shape of all faults.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, RETRY_AFTER};
use order::card::FieldFault;
use order::refusal::Refusal;
use pay::envelope::{Retry, Verdict, verdict};
use serde::Serialize;

use crate::problem::RETRY_AFTER_SECONDS;

/// The answer to a refusal where no way of paying dresses it further.
pub(crate) fn refused(refusal: &Refusal) -> Response {
    let Verdict { status, code, retry, message, order } = verdict(refusal);
    let fields = if let Refusal::CardInvalid(faults) = refusal {
        Some(faults.iter().map(Field::of).collect())
    } else {
        None
    };
    let public_order_id = order.map(|order| order.to_string());
    let body =
        Body { error: Fault { code, message, retry: retry.word(), public_order_id, fields } };
    let mut response = (status, Json(body)).into_response();
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    if retry == Retry::Same {
        headers.insert(RETRY_AFTER, RETRY_AFTER_SECONDS);
    }
    response
}

#[derive(Serialize)]
struct Body<'a> {
    error: Fault<'a>,
}

#[derive(Serialize)]
struct Fault<'a> {
    code: &'static str,
    message: &'static str,
    retry: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    public_order_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fields: Option<Vec<Field<'a>>>,
}

/// One faulty field. The words never repeat what was sent.
#[derive(Serialize)]
struct Field<'a> {
    field: &'static str,
    message: &'a str,
}

impl<'a> Field<'a> {
    fn of(fault: &'a FieldFault) -> Self {
        Self { field: fault.field, message: &fault.message }
    }
}
