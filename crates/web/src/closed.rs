//! Doors that the contract names and that this installation does not open yet.

use axum::Router;
use axum::routing::post;

use crate::preview;
use crate::problem::NOT_CONFIGURED;

pub(crate) fn routes() -> Router {
    let not_configured = || async { NOT_CONFIGURED };
    Router::new()
        .route("/api/x402/postcards", post(not_configured))
        .route("/api/mpp/postcards", post(not_configured))
}

/// Where no provider is set up.
pub(crate) fn preview() -> Router {
    Router::new().route(preview::PATH, post(|| async { NOT_CONFIGURED }))
}
