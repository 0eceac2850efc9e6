//! The counter: where a call is judged, carried out, spoiled and noted.

use std::sync::Arc;
use std::time::Duration;

use alloy_primitives::{B256, U256};
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, State};
use axum::http::Response;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::ask::Ask;
use super::carrier::{Carried, no};
use super::fault::{Kind, Operation, Rule};
use super::{Desk, Line, Sponsoring};
use crate::provider::answer::{Answer, HTML};
use crate::provider::wire::listener::Wire;
use crate::provider::wire::plan::Plan;

type Shared = State<Arc<Desk>>;

/// What goes to the caller, and what was sent to a chain for it.
struct Done {
    outcome: Outcome,
    transaction: Option<B256>,
}

enum Outcome {
    Answer(Answer),
    /// Bytes of our own, past the HTTP library.
    Wire(Plan),
}

impl Done {
    fn said(status: u16, body: &Value) -> Self {
        Self { outcome: Outcome::Answer(Answer::json(status, body)), transaction: None }
    }
}

pub(super) async fn supported(State(desk): Shared, wire: ConnectInfo<Wire>) -> Response<Body> {
    serve(&desk, wire, Operation::Supported, &Bytes::new()).await
}

pub(super) async fn verify(
    State(desk): Shared,
    wire: ConnectInfo<Wire>,
    body: Bytes,
) -> Response<Body> {
    serve(&desk, wire, Operation::Verify, &body).await
}

pub(super) async fn settle(
    State(desk): Shared,
    wire: ConnectInfo<Wire>,
    body: Bytes,
) -> Response<Body> {
    // In a task of its own: a caller who hangs up does not stop it.
    let (desk, same) = (Arc::clone(&desk), body);
    let served = async move { serve(&desk, wire, Operation::Settle, &same).await };
    let served = tokio::spawn(served).await;
    served.unwrap_or_else(|_| Answer::json(500, &json!({ "error": "it broke" })).into_response())
}

async fn serve(
    desk: &Desk,
    ConnectInfo(wire): ConnectInfo<Wire>,
    operation: Operation,
    body: &[u8],
) -> Response<Body> {
    let rule = desk.books().rules.meet(operation);
    let done = match operation {
        Operation::Supported => spoiled(rule.as_ref(), || Done::said(200, &list(desk))).await,
        Operation::Verify | Operation::Settle => {
            let asked = serde_json::from_slice(body).ok().and_then(|body| Ask::read(&body));
            match (asked, operation) {
                (None, _) => {
                    let words = "Missing paymentPayload or paymentRequirements";
                    Done::said(400, &json!({ "error": words }))
                }
                (Some(ask), Operation::Settle) => settled(desk, rule.as_ref(), &ask).await,
                (Some(ask), Operation::Supported | Operation::Verify) => {
                    judged(desk, rule.as_ref(), &ask).await
                }
            }
        }
    };
    let status = match &done.outcome {
        Outcome::Answer(answer) => Some(answer.status),
        Outcome::Wire(_) => None,
    };
    let transaction = done.transaction.map(|hash| hash.to_string());
    let fault = rule.map(|rule| rule.kind);
    desk.books().note(Line { number: 0, operation, fault, status, transaction });
    match done.outcome {
        Outcome::Answer(answer) => answer.into_response(),
        Outcome::Wire(plan) => {
            wire.lay(plan);
            // Never seen: the plan takes the socket before its first byte.
            Response::new(Body::empty())
        }
    }
}

/// Every list names the next account, as the official one names any.
fn list(desk: &Desk) -> Value {
    let accounts: Vec<String> =
        desk.carrier.accounts().map(|account| account.to_string()).collect();
    let turn = {
        let mut books = desk.books();
        books.lists += 1;
        (books.lists - 1) % accounts.len()
    };
    let kinds: Vec<Value> = desk
        .carrier
        .networks()
        .map(|network| {
            json!({
                "x402Version": 2,
                "scheme": "upto",
                "network": network.caip2(),
                "extra": { "facilitatorAddress": accounts[turn] },
            })
        })
        .collect();
    let extensions = match desk.sponsoring {
        Sponsoring::Offered => vec!["eip2612GasSponsoring"],
        Sponsoring::NotOffered => Vec::new(),
    };
    json!({ "kinds": kinds, "extensions": extensions, "signers": { "eip155:*": accounts } })
}

async fn judged(desk: &Desk, rule: Option<&Rule>, ask: &Ask) -> Done {
    let payer = ask.owner.to_string();
    let say_no = |reason: &str| {
        let body = json!({ "isValid": false, "invalidReason": reason, "payer": payer });
        Done::said(200, &body)
    };
    if let Some(rule) = rule.filter(|rule| rule.kind == Kind::Refused) {
        return say_no(&rule.reason);
    }
    spoiled(rule, || match desk.carrier.verify(ask, ask.amount) {
        Ok(_) => Done::said(200, &json!({ "isValid": true, "payer": payer })),
        Err(reason) => say_no(reason),
    })
    .await
}

async fn settled(desk: &Desk, rule: Option<&Rule>, ask: &Ask) -> Done {
    if let Some(rule) = rule.filter(|rule| rule.kind == Kind::Refused) {
        return Done::said(200, &no(ask, &rule.reason, ""));
    }
    if rule.is_some_and(|rule| rule.kind == Kind::Invented) {
        let transaction = B256::from(ask.permit.nonce);
        let invented = Carried::Done { transaction, amount: ask.amount };
        return Done::said(200, &invented.written(ask));
    }
    if rule.is_some_and(|rule| rule.kind.comes_before()) {
        return spoiled(rule, || Done::said(200, &Value::Null)).await;
    }
    let less = rule.is_some_and(|rule| rule.kind == Kind::MovesLess);
    let amount = if less { ask.amount.saturating_sub(U256::ONE) } else { ask.amount };
    let carried = desk.carrier.settle(ask, amount).await;
    let transaction = carried.transaction();
    let good = match (rule, &carried) {
        (Some(rule), Carried::Done { transaction, .. }) => {
            bent(desk, rule, ask, *transaction, carried.written(ask))
        }
        (_, carried) => (200, carried.written(ask)),
    };
    let done = spoiled(rule, || Done::said(good.0, &good.1)).await;
    Done { transaction, ..done }
}

/// A success, bent into what the rule wants.
fn bent(desk: &Desk, rule: &Rule, ask: &Ask, sent: B256, mut good: Value) -> (u16, Value) {
    match rule.kind {
        Kind::Pending | Kind::PendingAs500 => {
            desk.carrier.owe(ask, sent);
            let status = if rule.kind == Kind::Pending { 200 } else { 500 };
            return (status, no(ask, "settlement_pending", &sent.to_string()));
        }
        Kind::FailsAfter => return (200, no(ask, &rule.reason, "")),
        Kind::WrongAmount => good["amount"] = json!(ask.permit.permitted.amount.to_string()),
        Kind::NoAmount => good["amount"] = Value::Null,
        Kind::WrongNetwork => good["network"] = json!("eip155:1"),
        Kind::WrongPayer => good["payer"] = json!(ask.witness.facilitator.to_string()),
        Kind::NoTransaction => good["transaction"] = json!(""),
        Kind::CutBefore
        | Kind::HangBefore
        | Kind::RateLimited
        | Kind::StatusBefore
        | Kind::Refused
        | Kind::Invented
        | Kind::CutAfter
        | Kind::HangAfter
        | Kind::StatusAfter
        | Kind::Garbage
        | Kind::Empty
        | Kind::Slow
        | Kind::MovesLess => {}
    }
    (200, good)
}

/// What every operation's answer can suffer. `work` is done unless the fault
/// comes before it.
async fn spoiled(rule: Option<&Rule>, work: impl FnOnce() -> Done) -> Done {
    let Some(rule) = rule else { return work() };
    if rule.kind == Kind::Slow {
        let done = work();
        sleep(Duration::from_millis(rule.milliseconds)).await;
        return done;
    }
    let done = if rule.kind.comes_before() { Done::said(200, &Value::Null) } else { work() };
    let spoiled = match rule.kind {
        Kind::CutBefore | Kind::CutAfter => Outcome::Wire(Plan::reset()),
        Kind::HangBefore | Kind::HangAfter => Outcome::Wire(Plan::silence()),
        Kind::RateLimited => {
            let busy = Answer::json(429, &json!({ "error": "too many requests" }));
            Outcome::Answer(busy.with("retry-after", rule.seconds.to_string()))
        }
        Kind::StatusBefore | Kind::StatusAfter => {
            let words = json!({ "error": "the sandbox was asked to answer with this status" });
            Outcome::Answer(Answer::json(rule.status, &words))
        }
        Kind::Garbage => Outcome::Answer(Answer::new(200, HTML, "<html>an answer once</html>")),
        Kind::Empty => Outcome::Answer(Answer::new(200, HTML, "")),
        Kind::Slow
        | Kind::Refused
        | Kind::Invented
        | Kind::Pending
        | Kind::PendingAs500
        | Kind::FailsAfter
        | Kind::WrongAmount
        | Kind::NoAmount
        | Kind::WrongNetwork
        | Kind::WrongPayer
        | Kind::NoTransaction
        | Kind::MovesLess => done.outcome,
    };
    Done { outcome: spoiled, transaction: done.transaction }
}
