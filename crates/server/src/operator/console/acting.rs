//! The forms of the actions: first a page that states what will be done, then the result.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use minijinja::context;
use minijinja::value::Value;
use order::lifecycle::Stored;
use order::model::card::Postcard;
use order::model::ids::{OrderId, Timestamp};
use order::operator::ActionOutcome;
use order::operator::rejection::ActionRejection;

use super::form::FormFields;
use super::orders::{store_failed, unknown};
use super::pages::page;
use super::session::ConsoleSession;
use super::view;
use crate::operator::action_kind::ActionKind;
use crate::operator::error::OperatorError;
use crate::operator::requested_action::{ActionFields, PerformedAction, RequestedAction};
use crate::operator::state::OperatorState;

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
    let Some(kind) = ActionKind::from_name(&name) else { return unknown(&session) };
    let requested = RequestedAction::parse(kind, id, session.operator.clone(), &sent(&fields));
    let requested = match requested {
        Ok(requested) => requested,
        Err(problem) => return rejected(&session, kind, id, &problem),
    };
    if fields.get("confirmed").is_none() {
        return confirm(&state, &session, kind, &requested).await;
    }
    match requested.perform(&state).await {
        Ok(done) => report(&session, kind, id, &done),
        Err(reason) => rejected(&session, kind, id, &reason),
    }
}

/// A browser that opens the address of a form shows the order.
pub(super) async fn show_order(Path((id, _)): Path<(String, String)>) -> Response {
    match id.parse::<OrderId>() {
        Ok(id) => Redirect::to(&format!("/console/orders/{id}")).into_response(),
        Err(_) => Redirect::to("/").into_response(),
    }
}

fn sent(fields: &FormFields) -> ActionFields<'_> {
    ActionFields {
        version: fields.get("version").and_then(|version| version.parse().ok()),
        facts_digest: fields.get("facts_digest"),
        note: fields.get("note"),
        mailpiece: fields.get("mailpiece"),
        transaction: fields.get("transaction"),
    }
}

/// States what the action will do.
async fn confirm(
    state: &OperatorState,
    session: &ConsoleSession,
    kind: ActionKind,
    requested: &RequestedAction,
) -> Response {
    let id = requested.instruction.order;
    let found = match state.store.find(id).await {
        Ok(Some(order)) => order,
        Ok(None) => return unknown(session),
        Err(error) => return store_failed(session, error),
    };
    let now = state.clock.now();
    match requested.saw(&found, now, state.store.as_ref()).await {
        Ok(true) => {}
        Ok(false) => return rejected(session, kind, id, &ActionRejection::Changed.into()),
        Err(error) => return store_failed(session, error),
    }
    if !kind.is_possible(&found, now) {
        let text = "The action is not possible in the order's state.";
        return rejected(session, kind, id, &ActionRejection::NotPossible(text).into());
    }
    page(session, StatusCode::OK, "confirm.html", confirm_values(kind, &found, requested, now))
}

fn confirm_values(
    kind: ActionKind,
    found: &Stored,
    requested: &RequestedAction,
    now: Timestamp,
) -> Value {
    context! {
        order => view::order(found, now),
        action => kind.value(),
        note => requested.instruction.note,
        typed => requested.named(),
    }
}

fn report(
    session: &ConsoleSession,
    kind: ActionKind,
    id: OrderId,
    done: &PerformedAction,
) -> Response {
    let verdict = match done {
        PerformedAction::Revealed(card) => {
            return page(session, StatusCode::OK, "card.html", card_values(id, card));
        }
        PerformedAction::Outcome(ActionOutcome::SubmissionFailed) => Verdict::Failed,
        PerformedAction::Outcome(
            ActionOutcome::CardFound
            | ActionOutcome::Submitted
            | ActionOutcome::Refunded
            | ActionOutcome::Acknowledged
            | ActionOutcome::Erased,
        ) => Verdict::Done,
    };
    let values = result_values(kind, id, verdict, done.message());
    page(session, StatusCode::OK, "result.html", values)
}

fn rejected(
    session: &ConsoleSession,
    kind: ActionKind,
    id: OrderId,
    reason: &OperatorError,
) -> Response {
    let values = result_values(kind, id, Verdict::Rejected, &reason.message);
    page(session, reason.status, "result.html", values)
}

/// How an action ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Done,
    Failed,
    Rejected,
}

fn result_values(kind: ActionKind, id: OrderId, verdict: Verdict, text: &str) -> Value {
    let word = match verdict {
        Verdict::Done => "done",
        Verdict::Failed => "failed",
        Verdict::Rejected => "rejected",
    };
    context! {
        title => format!("{}: {word}", kind.title()),
        text => text,
        order => id.to_string(),
        failed => verdict != Verdict::Done,
    }
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
    pub(in super::super) fn confirmation(kind: ActionKind, order: &Stored, typed: &str) -> Value {
        let transaction = format!("0x{}", "5e".repeat(32));
        let fields = ActionFields {
            version: Some(order.version()),
            note: Some(typed),
            mailpiece: Some(typed),
            transaction: Some(&transaction),
            ..ActionFields::default()
        };
        let operator = "ada".parse().unwrap();
        let requested = RequestedAction::parse(kind, order.id(), operator, &fields);
        confirm_values(kind, order, &requested.unwrap_or_else(|fault| panic!("{fault:?}")), NOW)
    }

    pub(in super::super) fn revealed(card: &Postcard) -> Value {
        card_values(OrderId::from_bytes([1; 16]), card)
    }

    #[test]
    fn a_form_is_read_field_by_field() {
        let form = b"version=3&facts_digest=f&note=+done+&mailpiece=m&transaction=t";
        let fields = FormFields::parse(form);
        let sent = sent(&fields);
        assert_eq!((sent.version, sent.facts_digest), (Some(3), Some("f")));
        assert_eq!(
            (sent.note, sent.mailpiece, sent.transaction),
            (Some("done"), Some("m"), Some("t"))
        );
        assert_eq!(self::sent(&FormFields::parse(b"version=x")).version, None);
    }
}
