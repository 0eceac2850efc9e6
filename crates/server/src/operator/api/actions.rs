//! `POST /v1/orders/{id}/{action}`: the actions of an operator on one order.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::json;

use super::orders;
use super::parameters::{JsonBody, order_id};
use crate::operator::action_kind::ActionKind;
use crate::operator::error::{OperatorError, respond};
use crate::operator::order_facts;
use crate::operator::requested_action::{ActionFields, PerformedAction, RequestedAction};
use crate::operator::state::OperatorState;

const FIELDS: &[&str] =
    &["version", "facts_digest", "operator", "note", "transaction", "mailpiece"];

pub(super) async fn act(
    State(state): State<Arc<OperatorState>>,
    Path((id, action)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, OperatorError> {
    let order = order_id(&id)?;
    let body = JsonBody::parse(&headers, &body, FIELDS)?;
    let kind = ActionKind::from_name(&action).ok_or_else(unknown_action)?;
    let operator = body.needed_text("operator")?.parse().map_err(|_| {
        OperatorError::invalid("`operator` must have 1 to 64 of A-Z, a-z, 0-9 and ._@-.")
    })?;
    let fields = ActionFields {
        version: Some(body.needed_number("version")?),
        facts_digest: body.text("facts_digest")?,
        note: body.text("note")?,
        mailpiece: body.text("mailpiece")?,
        transaction: body.text("transaction")?,
    };
    let requested = RequestedAction::parse(kind, order, operator, &fields)?;
    let performed = requested.perform(&state).await?;
    let mut done = json!({ "done": performed.code(), "message": performed.message() });
    match &performed {
        PerformedAction::Outcome(_) => {}
        PerformedAction::Revealed(card) => done["card"] = order_facts::revealed_card(card),
    }
    done["order"] = orders::find(&state, &id).await?.1;
    Ok(respond(StatusCode::OK, &done))
}

fn unknown_action() -> OperatorError {
    let names = ActionKind::ALL.map(ActionKind::name).join(", ");
    let message = format!("The actions are {names}.");
    OperatorError::new(StatusCode::NOT_FOUND, "unknown_action", message)
}
