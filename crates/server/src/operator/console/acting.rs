//! The forms of the actions: first a page that states what will be done, then the result.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;
use order::lifecycle::Stored;
use order::lifecycle::event::OperatorName;
use order::model::card::Postcard;
use order::model::ids::{OrderId, Timestamp};
use order::model::mail::Mailpiece;
use order::operator::rejection::ActionRejection;
use order::operator::transfers::TransactionHash;
use order::operator::{ActionOutcome, Instruction, OperatorActions};
use tracing::info;

use super::action::ConsoleAction;
use super::form::FormFields;
use super::orders::{store_failed, unknown};
use super::pages::page;
use super::session::ConsoleSession;
use super::view;
use crate::operator::error::OperatorError;
use crate::operator::state::OperatorState;

/// A longer note is not recorded.
const NOTE_CHARACTERS_MAX: usize = 500;
/// The provider's ids are shorter.
const MAILPIECE_CHARACTERS_MAX: usize = 200;

/// An action with everything that it needs, parsed from its form.
struct ParsedForm {
    request: ActionRequest,
    instruction: Instruction,
    /// What was typed besides the note.
    typed: String,
}

enum ActionRequest {
    Resubmit,
    Attach(Mailpiece),
    Refund(TransactionHash),
    Acknowledge,
    Erase,
    Reveal,
}

/// What the result page shows.
enum ActionResult {
    Done(ActionOutcome),
    Card(Postcard),
}

/// A form of an action. Without `confirmed` nothing is done yet. The access check has found the
/// session's CSRF token in it.
pub(super) async fn act(
    State(state): State<Arc<OperatorState>>,
    session: ConsoleSession,
    Path((id, name)): Path<(String, String)>,
    body: Bytes,
) -> Response {
    let fields = FormFields::parse(&body);
    let Ok(id) = id.parse::<OrderId>() else { return unknown(&session) };
    let Some(action) = ConsoleAction::from_name(&name) else { return unknown(&session) };
    let parsed = match parse(action, id, session.operator.clone(), &fields) {
        Ok(parsed) => parsed,
        Err(text) => {
            let status = StatusCode::BAD_REQUEST;
            return result(&session, status, id, &ActionReport::failed(action, text));
        }
    };
    if fields.get("confirmed").is_some() {
        let done = perform(state.actions.clone(), parsed).await;
        report(&session, action, id, done)
    } else {
        confirm(&state, &session, action, &parsed).await
    }
}

fn parse(
    action: ConsoleAction,
    order: OrderId,
    operator: OperatorName,
    fields: &FormFields,
) -> Result<ParsedForm, &'static str> {
    let version = fields.get("version").and_then(|version| version.parse().ok());
    let version = version.ok_or("The form has no version of the order. Open the order again.")?;
    let note = fields.get("note").unwrap_or_default();
    if note.chars().count() > NOTE_CHARACTERS_MAX || note.chars().any(char::is_control) {
        return Err("A note has at most 500 characters, in one line.");
    }
    if action == ConsoleAction::Acknowledge && note.is_empty() {
        return Err("Enter a note: why the order needs no action now.");
    }
    let mut typed = String::new();
    let request = match action {
        ConsoleAction::Resubmit => ActionRequest::Resubmit,
        ConsoleAction::Attach => {
            let id = fields.get("mailpiece").unwrap_or_default();
            if !(1..=MAILPIECE_CHARACTERS_MAX).contains(&id.chars().count()) {
                return Err("Enter the provider's id of the card, of at most 200 characters.");
            }
            id.clone_into(&mut typed);
            ActionRequest::Attach(Mailpiece(id.to_owned()))
        }
        ConsoleAction::Refund => {
            let hash = TransactionHash::parse(fields.get("transaction").unwrap_or_default());
            let hash = hash.map_err(|_| "A transaction is 0x and 64 hexadecimal digits.")?;
            hash.as_str().clone_into(&mut typed);
            ActionRequest::Refund(hash)
        }
        ConsoleAction::Acknowledge => ActionRequest::Acknowledge,
        ConsoleAction::Erase => ActionRequest::Erase,
        ConsoleAction::Reveal => ActionRequest::Reveal,
    };
    let instruction = Instruction { order, version, operator, note: note.to_owned() };
    Ok(ParsedForm { request, instruction, typed })
}

/// States what the action will do.
async fn confirm(
    state: &OperatorState,
    session: &ConsoleSession,
    action: ConsoleAction,
    parsed: &ParsedForm,
) -> Response {
    let id = parsed.instruction.order;
    let found = match state.store.find(id).await {
        Ok(Some(order)) => order,
        Ok(None) => return unknown(session),
        Err(error) => return store_failed(session, error),
    };
    let now = state.clock.now();
    if found.version() != parsed.instruction.version {
        return rejected(session, action, id, ActionRejection::Changed);
    }
    if !action.is_possible(&found, now) {
        let text = "The action is not possible in the order's state.";
        return rejected(session, action, id, ActionRejection::NotPossible(text));
    }
    page(session, StatusCode::OK, "confirm.html", confirm_values(action, &found, parsed, now))
}

fn confirm_values(
    action: ConsoleAction,
    found: &Stored,
    parsed: &ParsedForm,
    now: Timestamp,
) -> Value {
    context! {
        order => view::order(found, now),
        action => action.value(),
        version => parsed.instruction.version,
        note => parsed.instruction.note,
        typed => parsed.typed,
    }
}

/// Acts in a task of its own: a browser that disconnects does not stop it halfway.
async fn perform(
    actions: Arc<OperatorActions>,
    parsed: ParsedForm,
) -> Result<ActionResult, ActionRejection> {
    let order = parsed.instruction.order;
    let task = tokio::spawn(async move {
        let ParsedForm { request, instruction, .. } = parsed;
        let done = match request {
            ActionRequest::Resubmit => actions.resubmit(&instruction).await,
            ActionRequest::Attach(card) => actions.attach(&instruction, &card).await,
            ActionRequest::Refund(hash) => actions.refund(&instruction, &hash).await,
            ActionRequest::Acknowledge => actions.acknowledge(&instruction).await,
            ActionRequest::Erase => actions.erase(&instruction).await,
            ActionRequest::Reveal => {
                return actions.reveal(&instruction).await.map(ActionResult::Card);
            }
        };
        done.map(ActionResult::Done)
    });
    let done = task.await.unwrap_or(Err(ActionRejection::StoreBusy));
    if done.is_ok() {
        info!(order.id = %order, "an operator acted on an order");
    }
    done
}

fn report(
    session: &ConsoleSession,
    action: ConsoleAction,
    id: OrderId,
    done: Result<ActionResult, ActionRejection>,
) -> Response {
    match done {
        Ok(ActionResult::Done(outcome)) => {
            result(session, StatusCode::OK, id, &ActionReport::of(action, &outcome))
        }
        Ok(ActionResult::Card(card)) => {
            page(session, StatusCode::OK, "card.html", card_values(id, &card))
        }
        Err(reason) => rejected(session, action, id, reason),
    }
}

fn rejected(
    session: &ConsoleSession,
    action: ConsoleAction,
    id: OrderId,
    reason: ActionRejection,
) -> Response {
    let OperatorError { status, message: text, .. } = reason.into();
    result(session, status, id, &ActionReport::failed(action, &text))
}

/// What is reported of an action.
struct ActionReport<'a> {
    title: String,
    text: &'a str,
    failed: Failed,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Failed {
    No,
    Yes,
}

impl<'a> ActionReport<'a> {
    fn failed(action: ConsoleAction, text: &'a str) -> Self {
        Self { title: format!("{}: rejected", action.title()), text, failed: Failed::Yes }
    }

    fn of(action: ConsoleAction, outcome: &ActionOutcome) -> Self {
        let (text, failed) = match outcome {
            ActionOutcome::CardFound => {
                ("The provider has the card. It is attached to the order.", Failed::No)
            }
            ActionOutcome::Submitted => {
                ("The card was submitted, and the provider has accepted it.", Failed::No)
            }
            ActionOutcome::SubmissionFailed => (
                "The card was submitted, and the provider refused it or its answer was lost. The \
                 order says which.",
                Failed::Yes,
            ),
            ActionOutcome::Refunded => (
                "The transaction proves the refund. The order is refunded, and the text of its \
                 card is deleted.",
                Failed::No,
            ),
            ActionOutcome::Acknowledged => {
                ("The order raises no alert until its state changes.", Failed::No)
            }
            ActionOutcome::Erased => {
                ("The text of the card is deleted. A refund is due.", Failed::No)
            }
        };
        let verdict = if failed == Failed::Yes { "failed" } else { "done" };
        Self { title: format!("{}: {verdict}", action.title()), text, failed }
    }
}

fn result(
    session: &ConsoleSession,
    status: StatusCode,
    id: OrderId,
    outcome: &ActionReport<'_>,
) -> Response {
    let values = context! {
        title => outcome.title,
        text => outcome.text,
        order => id.to_string(),
        failed => outcome.failed == Failed::Yes,
    };
    page(session, status, "result.html", values)
}

/// The card in full. Only for the page that answers a recorded `reveal`.
fn card_values(id: OrderId, card: &Postcard) -> Value {
    let to = &card.recipient;
    context! {
        order => id.to_string(),
        message => card.message.as_str(),
        front => card.front.as_str(),
        name => to.name.as_str(),
        address => to.address.as_str(),
        city => to.city.as_str(),
        province => to.province.as_str(),
        postal_code => to.postal_code.as_str(),
        country => to.country.as_str(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use order::testing::contract::samples::NOW;

    use super::*;

    /// The values of a confirmation in which everything was typed.
    pub(in super::super) fn confirmation(
        action: ConsoleAction,
        order: &Stored,
        typed: &str,
    ) -> Value {
        let instruction = Instruction {
            order: order.id(),
            version: order.version(),
            operator: "ada".parse().unwrap(),
            note: typed.to_owned(),
        };
        let request = ActionRequest::Erase;
        let parsed = ParsedForm { request, instruction, typed: typed.to_owned() };
        confirm_values(action, order, &parsed, NOW)
    }

    pub(in super::super) fn revealed(card: &Postcard) -> Value {
        card_values(OrderId::from_bytes([1; 16]), card)
    }

    fn read(action: ConsoleAction, form: &str) -> Result<ParsedForm, &'static str> {
        let order = OrderId::from_bytes([1; 16]);
        parse(action, order, "ada".parse().unwrap(), &FormFields::parse(form.as_bytes()))
    }

    #[test]
    fn a_form_needs_a_version_and_what_its_action_needs() {
        let hash = format!("0x{}", "5E".repeat(32));
        let refund = format!("version=3&note=done&transaction={hash}");
        let parsed = read(ConsoleAction::Refund, &refund).unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!((parsed.instruction.version, parsed.instruction.note.as_str()), (3, "done"));
        assert_eq!(parsed.typed, hash.to_lowercase());
        for (action, form) in [
            (ConsoleAction::Resubmit, "note=x".to_owned()),
            (ConsoleAction::Resubmit, "version=x".to_owned()),
            (ConsoleAction::Resubmit, format!("version=3&note={}", "x".repeat(501))),
            (ConsoleAction::Resubmit, "version=3&note=two%0Alines".to_owned()),
            (ConsoleAction::Refund, "version=3".to_owned()),
            (ConsoleAction::Refund, "version=3&transaction=0x12".to_owned()),
            (ConsoleAction::Attach, "version=3".to_owned()),
            (ConsoleAction::Attach, format!("version=3&mailpiece={}", "7".repeat(201))),
            (ConsoleAction::Acknowledge, "version=3".to_owned()),
        ] {
            assert!(read(action, &form).is_err(), "{form}");
        }
    }
}
