//! The operator's interface: JSON API, console and metrics, apart from the public listener.
//!
//! Reading order: `state`, what it works with; `listener`, where it is served; `access`, which
//! requests may pass; `requested_action`, what operators do; `api`, the JSON API that the commands
//! use; `console`, the pages.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router, middleware};

use crate::operator::access::{AccessCheck, Entrance};
use crate::operator::console::pages;
use crate::operator::console::session::ConsoleSession;
use crate::operator::error::OperatorError;
use crate::operator::state::OperatorState;

pub(crate) mod access;
pub(crate) mod action_kind;
mod api;
mod console;
pub(crate) mod error;
pub(crate) mod listener;
mod login;
pub(crate) mod order_facts;
mod requested_action;
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
        .fallback(nothing_here)
        .layer(middleware::from_fn_with_state(check, access::check))
}

/// A browser that is logged in gets a page.
async fn nothing_here(session: Option<Extension<ConsoleSession>>) -> Response {
    let (status, text) = (StatusCode::NOT_FOUND, "There is nothing here.");
    match session {
        Some(Extension(session)) => pages::message(&session, status, "No such page", text),
        None => OperatorError::new(status, "not_found", text).into_response(),
    }
}
