//! `POST /v1/orders/{id}/{action}`: the actions of an operator on one order.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use order::model::ids::OrderId;
use order::model::mail::Mailpiece;
use order::operator::rejection::ActionRejection;
use order::operator::transfers::TransactionHash;
use order::operator::{ActionOutcome, Instruction, OperatorActions};
use serde_json::{Value, json};
use tracing::info;

use super::orders;
use super::parameters::{JsonBody, order_id};
use crate::operator::error::{OperatorError, respond};
use crate::operator::order_facts;
use crate::operator::state::OperatorState;

const FIELDS: &[&str] = &["version", "operator", "note", "transaction", "mailpiece"];
const NOTE_CHARACTERS_MAX: usize = 500;
const MAILPIECE_CHARACTERS_MAX: usize = 200;

/// An action with what it needs besides the instruction.
enum RequestedAction {
    Resubmit,
    Attach(Mailpiece),
    Refund(TransactionHash),
    Acknowledge,
    Erase,
    Reveal,
}

pub(super) async fn act(
    State(state): State<Arc<OperatorState>>,
    Path((id, action)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, OperatorError> {
    let order = order_id(&id)?;
    let body = JsonBody::parse(&headers, &body, FIELDS)?;
    let requested = RequestedAction::parse(&action, &body)?;
    let instruction = instruction(order, &requested, &body)?;
    let actions = state.actions.clone();
    // In a task of its own: a client that disconnects does not stop it halfway.
    let task = tokio::spawn(async move { perform(&actions, &instruction, &requested).await });
    let ended = task.await.map_err(|_| {
        let message = "The action ended unexpectedly. Look at the order again.";
        OperatorError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", message)
    })?;
    let mut done = ended?;
    info!(order.id = %order, kind = %done["done"].as_str().unwrap_or_default(), "an operator acted on an order");
    done["order"] = orders::find(&state, &id).await?.1;
    Ok(respond(StatusCode::OK, &done))
}

impl RequestedAction {
    fn parse(name: &str, body: &JsonBody) -> Result<Self, OperatorError> {
        match name {
            "resubmit" => Ok(Self::Resubmit),
            "attach" => {
                let text = body.needed_text("mailpiece")?;
                let fits = (1..=MAILPIECE_CHARACTERS_MAX).contains(&text.chars().count());
                fits.then(|| Self::Attach(Mailpiece(text.to_owned()))).ok_or_else(|| {
                    OperatorError::invalid("`mailpiece` must have 1 to 200 characters.")
                })
            }
            "refund" => {
                let hash = TransactionHash::parse(body.needed_text("transaction")?);
                hash.map(Self::Refund).map_err(|_| {
                    let message = "`transaction` must be 0x and 64 hexadecimal digits.";
                    OperatorError::invalid(message)
                })
            }
            "acknowledge" => Ok(Self::Acknowledge),
            "erase" => Ok(Self::Erase),
            "reveal" => Ok(Self::Reveal),
            _ => {
                let message =
                    "The actions are resubmit, attach, refund, acknowledge, erase and reveal.";
                Err(OperatorError::new(StatusCode::NOT_FOUND, "unknown_action", message))
            }
        }
    }
}

fn instruction(
    order: OrderId,
    requested: &RequestedAction,
    body: &JsonBody,
) -> Result<Instruction, OperatorError> {
    let note = body.text("note")?.unwrap_or_default();
    if note.chars().count() > NOTE_CHARACTERS_MAX || note.chars().any(char::is_control) {
        let message = "`note` must have at most 500 characters, without line breaks.";
        return Err(OperatorError::invalid(message));
    }
    if matches!(requested, RequestedAction::Acknowledge) && note.trim().is_empty() {
        return Err(OperatorError::invalid("`note` is missing."));
    }
    let operator = body.needed_text("operator")?.parse().map_err(|_| {
        OperatorError::invalid("`operator` must have 1 to 64 of A-Z, a-z, 0-9 and ._@-.")
    })?;
    let version = body.needed_number("version")?;
    Ok(Instruction { order, version, operator, note: note.to_owned() })
}

async fn perform(
    actions: &OperatorActions,
    instruction: &Instruction,
    requested: &RequestedAction,
) -> Result<Value, ActionRejection> {
    let outcome = match requested {
        RequestedAction::Resubmit => actions.resubmit(instruction).await,
        RequestedAction::Attach(mailpiece) => actions.attach(instruction, mailpiece).await,
        RequestedAction::Refund(transaction) => actions.refund(instruction, transaction).await,
        RequestedAction::Acknowledge => actions.acknowledge(instruction).await,
        RequestedAction::Erase => actions.erase(instruction).await,
        RequestedAction::Reveal => {
            let card = actions.reveal(instruction).await?;
            let card = order_facts::revealed_card(&card);
            return Ok(json!({ "done": "revealed", "card": card }));
        }
    };
    let done = match outcome? {
        ActionOutcome::CardFound => "card_found",
        ActionOutcome::Submitted => "submitted",
        ActionOutcome::SubmissionFailed => "submission_failed",
        ActionOutcome::Refunded => "refunded",
        ActionOutcome::Acknowledged => "acknowledged",
        ActionOutcome::Erased => "erased",
    };
    Ok(json!({ "done": done }))
}
