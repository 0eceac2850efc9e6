//! The JSON API of the operator's interface, which the commands use.

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use crate::operator::state::OperatorState;

mod actions;
mod audit;
mod audit_json;
mod backup;
mod events;
mod evidence;
mod orders;
mod parameters;
mod report;

const BODY_BYTES_MAX: usize = 16 * 1024;

pub(crate) fn routes(state: Arc<OperatorState>) -> Router {
    Router::new()
        .route("/v1/orders", get(orders::list))
        .route("/v1/orders/{id}", get(orders::show))
        .route("/v1/orders/{id}/evidence", get(evidence::collect))
        .route("/v1/orders/{id}/{action}", post(actions::act))
        .route("/v1/events", get(events::list))
        .route("/v1/audit", get(audit::run))
        .route("/v1/report", get(report::page))
        .route("/v1/backup", post(backup::make))
        .route("/metrics", get(metrics))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .with_state(state)
}

async fn metrics(State(state): State<Arc<OperatorState>>) -> Response {
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], (state.metrics)()).into_response()
}
