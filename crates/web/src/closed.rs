//! Doors that the contract names and that this installation does not open yet.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http::header::ALLOW;
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::front::{admit, stamp};
use crate::problem::{METHOD_NOT_ALLOWED, NOT_CONFIGURED};
use crate::quota::Quota;

pub(crate) fn routes(quota: Arc<Quota>) -> Router {
    let not_configured = || async { NOT_CONFIGURED };
    let counted =
        Router::new().route("/mcp", post(mcp).head(mcp_looking).get(mcp_reading)).with_state(quota);
    Router::new()
        .route("/api/x402/postcards/preview", post(not_configured))
        .route("/api/x402/postcards", post(not_configured))
        .route("/api/mpp/postcards", post(not_configured))
        .route("/api/x402/orders/{publicOrderId}", get(not_configured))
        .route("/api/x402/resolve/{username}", get(not_configured))
        .merge(counted)
}

async fn mcp(State(quota): State<Arc<Quota>>, headers: HeaderMap) -> Response {
    counted(&quota, &headers, || NOT_CONFIGURED.into_response())
}

/// Some clients look whether anybody is there before they speak.
async fn mcp_looking(State(quota): State<Arc<Quota>>, headers: HeaderMap) -> Response {
    counted(&quota, &headers, || StatusCode::OK.into_response())
}

/// There is no stream to read: the server speaks when spoken to.
async fn mcp_reading(State(quota): State<Arc<Quota>>, headers: HeaderMap) -> Response {
    counted(&quota, &headers, || {
        let mut refused = METHOD_NOT_ALLOWED.into_response();
        refused.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
        refused
    })
}

fn counted(quota: &Quota, headers: &HeaderMap, answer: impl FnOnce() -> Response) -> Response {
    match admit(quota, headers) {
        Err(refusal) => *refusal,
        Ok(ticket) => {
            let mut response = answer();
            stamp(response.headers_mut(), quota, ticket);
            response
        }
    }
}
