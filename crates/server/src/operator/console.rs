//! The console: pages for operators, rendered on the server and without scripts.
//!
//! Reading order: `orders`, the list and one order; `acting`, the forms of the actions;
//! `money`, the charts; `view`, what of an order is shown; `pages`, how it is rendered.

use std::sync::Arc;

use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use crate::operator::state::OperatorState;

mod acting;
mod action;
mod evidence;
mod filters;
mod form;
mod labels;
mod money;
mod orders;
pub(crate) mod pages;
pub(crate) mod session;
mod view;

#[cfg(test)]
mod tests;

pub(crate) fn routes(state: Arc<OperatorState>) -> Router {
    Router::new()
        .route("/", get(orders::list))
        .route("/console/orders/{id}", get(orders::order))
        .route("/console/orders/{id}/evidence", get(orders::evidence))
        .route("/console/orders/{id}/{action}", post(acting::act).get(acting::show_order))
        .route("/money", get(money::show))
        .route(pages::STYLE_PATH, get(style))
        .route(pages::ICON_PATH, get(icon))
        .with_state(state)
}

async fn style() -> Response {
    (pages::headers("text/css; charset=utf-8"), pages::STYLE).into_response()
}

async fn icon() -> Response {
    (pages::headers("image/svg+xml"), pages::ICON).into_response()
}
