//! Doors that the contract names and that this installation does not open yet.

use axum::Router;
use axum::routing::{get, post};

use crate::problem::NOT_CONFIGURED;

pub(crate) fn routes() -> Router {
    let not_configured = || async { NOT_CONFIGURED };
    Router::new()
        .route("/api/x402/postcards/preview", post(not_configured))
        .route("/api/x402/postcards", post(not_configured))
        .route("/api/mpp/postcards", post(not_configured))
        .route("/api/x402/orders/{publicOrderId}", get(not_configured))
}
