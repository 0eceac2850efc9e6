//! Doors that the contract names and that this installation does not open yet.

use axum::Router;
use axum::routing::post;

use crate::problem::NOT_CONFIGURED;
use crate::{postcards, preview};

/// Where nobody carries payments.
pub(crate) fn sending() -> Router {
    x402().merge(mpp())
}

fn x402() -> Router {
    Router::new().route(postcards::X402, post(|| async { NOT_CONFIGURED }))
}

/// Where nobody carries the payers' own transfers.
pub(crate) fn mpp() -> Router {
    Router::new().route(postcards::MPP, post(|| async { NOT_CONFIGURED }))
}

/// Where no provider is set up.
pub(crate) fn preview() -> Router {
    Router::new().route(preview::PATH, post(|| async { NOT_CONFIGURED }))
}
