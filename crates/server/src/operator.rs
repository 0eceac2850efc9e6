//! The operator's interface: JSON API, console and metrics, apart from the public listener.
//!
//! Reading order: `state`, what it works with; `listener`, where it is served; `access`, which
//! requests may pass; `api`, the JSON API that the commands use; `console`, the pages.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::{Router, middleware};

use crate::operator::access::{AccessCheck, Entrance};
use crate::operator::error::OperatorError;
use crate::operator::state::OperatorState;

pub(crate) mod access;
mod api;
mod console;
pub(crate) mod error;
pub(crate) mod listener;
mod login;
pub(crate) mod order_facts;
pub(crate) mod state;
pub(crate) mod token;

/// What is served at one of the listeners. The console is for browsers, which cannot use a socket.
pub(crate) fn router(state: &Arc<OperatorState>, entrance: Entrance) -> Router {
    let check = AccessCheck { state: state.clone(), entrance };
    let pages = match entrance {
        Entrance::Socket => Router::new(),
        Entrance::Loopback => login::routes(state.clone()).merge(console::routes(state.clone())),
    };
    api::routes(state.clone())
        .merge(pages)
        .fallback(async || {
            OperatorError::new(StatusCode::NOT_FOUND, "not_found", "There is nothing here.")
        })
        .layer(middleware::from_fn_with_state(check, access::check))
}
