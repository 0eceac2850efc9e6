//! `GET /api/x402/orders/{publicOrderId}`: payment and delivery status without personal data.

use std::borrow::Cow;

use axum::Router;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::header::{
    ACCESS_CONTROL_EXPOSE_HEADERS, CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use order::lifecycle::Refund;
use order::model::ids::OrderId;
use order::model::mail::{Delivery, Stage};
use order::model::payment::TenderKind;
use order::ports::StoreError;
use order::status::{PaymentView, StatusReader, View};
use serde::Serialize;

use crate::documents::document;
use crate::http::cors::READ_ONLY;
use crate::http::problem::{Problem, Retry};
use crate::routes::refused::refused;

const PATH: &str = "/api/x402/orders/{publicOrderId}";

pub(crate) fn routes(statuses: StatusReader) -> Router {
    READ_ONLY.apply(Router::new().route(PATH, get(status)).with_state(statuses))
}

async fn status(
    State(statuses): State<StatusReader>,
    id: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    let id = id.ok().and_then(|Path(id)| id.parse::<OrderId>().ok());
    let Some(id) = id else { return MALFORMED.into_response() };
    match statuses.view(id).await {
        Ok(Some(view)) => status_response(&headers, &view),
        Ok(None) => UNKNOWN.into_response(),
        Err(StoreError::Corrupt) => refused(&order::refusal::Refusal::Internal),
        Err(StoreError::Lost | StoreError::Moved | StoreError::PaymentBound) => {
            refused(&order::refusal::Refusal::StoreBusy)
        }
    }
}

/// The entity tag is the hash of the body: 304 if nothing has changed.
fn status_response(headers: &HeaderMap, view: &View) -> Response {
    let body = serde_json::to_vec(&OrderRecord::of(view)).expect("texts and numbers make JSON");
    let tag = format!("\"{}\"", document::digest(&body));
    let unchanged = headers.get(IF_NONE_MATCH).is_some_and(|known| known == tag.as_str());
    let mut response = if unchanged {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let mut response = body.into_response();
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    };
    let tag = HeaderValue::try_from(tag).expect("digits and words are visible ASCII");
    response.headers_mut().extend([
        (ETAG, tag),
        (CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
        (ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("ETag, X-Request-Id")),
    ]);
    response
}

const MALFORMED: Problem = Problem {
    status: StatusCode::BAD_REQUEST,
    code: "invalid_order_id",
    message: Cow::Borrowed(
        "An order identifier has 32 lowercase hexadecimal characters: public_order_id of a \
         challenge, or id of a paid response.",
    ),
    retry: Retry::Never,
};

const UNKNOWN: Problem = Problem {
    status: StatusCode::NOT_FOUND,
    code: "order_not_found",
    message: Cow::Borrowed(
        "Order not found. Use public_order_id of a challenge, or id of a paid response.",
    ),
    retry: Retry::Never,
};

/// The body. Parts without evidence are omitted.
#[derive(Serialize)]
struct OrderRecord {
    id: String,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    created_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pricing: Option<PricingRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payment: Option<PaymentRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delivery: Option<DeliveryRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refund: Option<RefundRecord>,
}

#[derive(Serialize)]
struct PricingRecord {
    maximum: String,
    charged: String,
    currency: &'static str,
}

#[derive(Serialize)]
struct PaymentRecord {
    protocol: &'static str,
    network: &'static str,
    asset: String,
    amount: String,
    pay_to: String,
    transaction: String,
    confirmed_at: String,
}

#[derive(Serialize)]
struct DeliveryRecord {
    status: &'static str,
    updated_at: String,
}

#[derive(Serialize)]
struct RefundRecord {
    transaction: String,
    amount: String,
    refunded_at: String,
}

impl OrderRecord {
    fn of(view: &View) -> Self {
        Self {
            id: view.id.to_string(),
            status: view.status.word(),
            created_at: view.created_at.map(|at| at.to_string()),
            updated_at: view.updated_at.map(|at| at.to_string()),
            pricing: view.payment.as_ref().map(PricingRecord::of),
            payment: view.payment.as_ref().map(PaymentRecord::of),
            delivery: view.delivery.map(DeliveryRecord::of),
            refund: view.refund.as_ref().map(RefundRecord::of),
        }
    }
}

impl PricingRecord {
    fn of(payment: &PaymentView) -> Self {
        Self {
            maximum: payment.maximum.to_string(),
            charged: payment.charged.to_string(),
            currency: "USDC",
        }
    }
}

impl PaymentRecord {
    fn of(payment: &PaymentView) -> Self {
        Self {
            protocol: match payment.tender {
                TenderKind::X402 => "x402",
                TenderKind::Mpp => "mpp",
            },
            network: payment.network.caip2(),
            asset: payment.network.usdc().to_string(),
            // In atomic units, as in the payment protocols.
            amount: payment.charged.atomic().to_string(),
            pay_to: payment.pay_to.to_string(),
            transaction: payment.transaction.clone(),
            confirmed_at: payment.confirmed_at.to_string(),
        }
    }
}

impl DeliveryRecord {
    fn of(delivery: Delivery) -> Self {
        let status = match delivery.stage {
            Stage::Accepted => "accepted",
            Stage::Mailed => "mailed",
            Stage::Delivered => "delivered",
            Stage::Returned => "returned",
            Stage::Failed => "failed",
        };
        Self { status, updated_at: delivery.at.to_string() }
    }
}

impl RefundRecord {
    fn of(refund: &Refund) -> Self {
        Self {
            transaction: refund.transaction.clone(),
            amount: refund.amount.atomic().to_string(),
            refunded_at: refund.at.to_string(),
        }
    }
}

#[cfg(test)]
mod tests;
