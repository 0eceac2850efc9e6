//! The endpoints `/supported`, `/verify` and `/settle`, with faults and journal.

use std::sync::Arc;
use std::time::Duration;

use alloy_primitives::{B256, U256};
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, State};
use axum::http::Response;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::facilitator::fault::{FacilitatorFault, FacilitatorFaultRule, FacilitatorOperation};
use crate::facilitator::request::PaymentRequest;
use crate::facilitator::settlement::{SettlementOutcome, failure};
use crate::facilitator::state::{FacilitatorCall, FacilitatorState};
use crate::http::listener::ResponseOverride;
use crate::http::raw_response::RawResponse;
use crate::http::response::{EmulatedResponse, HTML};

type Shared = State<Arc<FacilitatorState>>;

/// The response to a call, and the transaction that was sent for it.
struct CallResult {
    outcome: FaultedResponse,
    transaction: Option<B256>,
}

enum FaultedResponse {
    Response(EmulatedResponse),
    /// Raw bytes that bypass the HTTP library.
    Raw(RawResponse),
}

impl CallResult {
    fn said(status: u16, body: &Value) -> Self {
        Self {
            outcome: FaultedResponse::Response(EmulatedResponse::json(status, body)),
            transaction: None,
        }
    }
}

pub(crate) async fn supported(
    State(state): Shared,
    raw: ConnectInfo<ResponseOverride>,
) -> Response<Body> {
    serve(&state, raw, FacilitatorOperation::Supported, &Bytes::new()).await
}

pub(crate) async fn verify(
    State(state): Shared,
    raw: ConnectInfo<ResponseOverride>,
    body: Bytes,
) -> Response<Body> {
    serve(&state, raw, FacilitatorOperation::Verify, &body).await
}

pub(crate) async fn settle(
    State(state): Shared,
    raw: ConnectInfo<ResponseOverride>,
    body: Bytes,
) -> Response<Body> {
    // In a task of its own, so that a client disconnect does not stop it.
    let (state, same) = (Arc::clone(&state), body);
    let served = async move { serve(&state, raw, FacilitatorOperation::Settle, &same).await };
    let served = tokio::spawn(served).await;
    served.unwrap_or_else(|_| {
        EmulatedResponse::json(500, &json!({ "error": "internal error" })).into_response()
    })
}

async fn serve(
    state: &FacilitatorState,
    ConnectInfo(raw): ConnectInfo<ResponseOverride>,
    operation: FacilitatorOperation,
    body: &[u8],
) -> Response<Body> {
    let rule = state.calls().rules.next(|rule| rule.concerns(operation));
    let done = match operation {
        FacilitatorOperation::Supported => {
            with_fault(rule.as_ref(), || CallResult::said(200, &list(state))).await
        }
        FacilitatorOperation::Verify | FacilitatorOperation::Settle => {
            let asked =
                serde_json::from_slice(body).ok().and_then(|body| PaymentRequest::read(&body));
            match (asked, operation) {
                (None, _) => {
                    let words = "Missing paymentPayload or paymentRequirements";
                    CallResult::said(400, &json!({ "error": words }))
                }
                (Some(request), FacilitatorOperation::Settle) => {
                    settled(state, rule.as_ref(), &request).await
                }
                (Some(request), FacilitatorOperation::Supported | FacilitatorOperation::Verify) => {
                    verified(state, rule.as_ref(), &request).await
                }
            }
        }
    };
    let status = match &done.outcome {
        FaultedResponse::Response(answer) => Some(answer.status),
        FaultedResponse::Raw(_) => None,
    };
    let transaction = done.transaction.map(|hash| hash.to_string());
    let fault = rule.map(|rule| rule.kind);
    state.calls().note(FacilitatorCall { number: 0, operation, fault, status, transaction });
    match done.outcome {
        FaultedResponse::Response(answer) => answer.into_response(),
        FaultedResponse::Raw(plan) => {
            raw.send(plan);
            // Never sent: the raw response takes the socket before the first byte.
            Response::new(Body::empty())
        }
    }
}

/// `/supported` names the next account in turn, as the official facilitator names any.
fn list(state: &FacilitatorState) -> Value {
    let accounts: Vec<String> =
        state.settler.accounts().map(|account| account.to_string()).collect();
    let turn = {
        let mut calls = state.calls();
        calls.lists += 1;
        (calls.lists - 1) % accounts.len()
    };
    let kinds: Vec<Value> = state
        .settler
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
    json!({ "kinds": kinds, "extensions": ["eip2612GasSponsoring"], "signers": { "eip155:*": accounts } })
}

async fn verified(
    state: &FacilitatorState,
    rule: Option<&FacilitatorFaultRule>,
    request: &PaymentRequest,
) -> CallResult {
    let payer = request.owner.to_string();
    let say_no = |reason: &str| {
        let body = json!({ "isValid": false, "invalidReason": reason, "payer": payer });
        CallResult::said(200, &body)
    };
    if let Some(rule) = rule.filter(|rule| rule.kind == FacilitatorFault::Refused) {
        return say_no(&rule.reason);
    }
    with_fault(rule, || match state.settler.verify(request, request.amount) {
        Ok(_) => CallResult::said(200, &json!({ "isValid": true, "payer": payer })),
        Err(reason) => say_no(reason),
    })
    .await
}

async fn settled(
    state: &FacilitatorState,
    rule: Option<&FacilitatorFaultRule>,
    request: &PaymentRequest,
) -> CallResult {
    if let Some(rule) = rule.filter(|rule| rule.kind == FacilitatorFault::Refused) {
        return CallResult::said(200, &failure(request, &rule.reason, ""));
    }
    if rule.is_some_and(|rule| rule.kind == FacilitatorFault::Invented) {
        let transaction = B256::from(request.permit.nonce);
        let invented = SettlementOutcome::CallResult { transaction, amount: request.amount };
        return CallResult::said(200, &invented.written(request));
    }
    if rule.is_some_and(|rule| rule.kind.comes_before()) {
        return with_fault(rule, || CallResult::said(200, &Value::Null)).await;
    }
    let less = rule.is_some_and(|rule| rule.kind == FacilitatorFault::MovesLess);
    let amount = if less { request.amount.saturating_sub(U256::ONE) } else { request.amount };
    let outcome = state.settler.settle(request, amount).await;
    let transaction = outcome.transaction();
    let good = match (rule, &outcome) {
        (Some(rule), SettlementOutcome::CallResult { transaction, .. }) => {
            alter_success(state, rule, request, *transaction, outcome.written(request))
        }
        (_, outcome) => (200, outcome.written(request)),
    };
    let done = with_fault(rule, || CallResult::said(good.0, &good.1)).await;
    CallResult { transaction, ..done }
}

/// Changes a successful response as the rule requires.
fn alter_success(
    state: &FacilitatorState,
    rule: &FacilitatorFaultRule,
    request: &PaymentRequest,
    sent: B256,
    mut good: Value,
) -> (u16, Value) {
    match rule.kind {
        FacilitatorFault::Pending | FacilitatorFault::PendingAs500 => {
            state.settler.remember_pending(request, sent);
            let status = if rule.kind == FacilitatorFault::Pending { 200 } else { 500 };
            return (status, failure(request, "settlement_pending", &sent.to_string()));
        }
        FacilitatorFault::FailsAfter => return (200, failure(request, &rule.reason, "")),
        FacilitatorFault::WrongAmount => {
            good["amount"] = json!(request.permit.permitted.amount.to_string())
        }
        FacilitatorFault::NoAmount => good["amount"] = Value::Null,
        FacilitatorFault::WrongNetwork => good["network"] = json!("eip155:1"),
        FacilitatorFault::WrongPayer => {
            good["payer"] = json!(request.witness.facilitator.to_string())
        }
        FacilitatorFault::NoTransaction => good["transaction"] = json!(""),
        FacilitatorFault::CutBefore
        | FacilitatorFault::HangBefore
        | FacilitatorFault::RateLimited
        | FacilitatorFault::StatusBefore
        | FacilitatorFault::Refused
        | FacilitatorFault::Invented
        | FacilitatorFault::CutAfter
        | FacilitatorFault::HangAfter
        | FacilitatorFault::StatusAfter
        | FacilitatorFault::Garbage
        | FacilitatorFault::Empty
        | FacilitatorFault::Slow
        | FacilitatorFault::MovesLess => {}
    }
    (200, good)
}

/// Applies the faults that all operations share. `work` runs unless the fault comes before
/// it.
async fn with_fault(
    rule: Option<&FacilitatorFaultRule>,
    work: impl FnOnce() -> CallResult,
) -> CallResult {
    let Some(rule) = rule else { return work() };
    if rule.kind == FacilitatorFault::Slow {
        let done = work();
        sleep(Duration::from_millis(rule.milliseconds)).await;
        return done;
    }
    let done = if rule.kind.comes_before() { CallResult::said(200, &Value::Null) } else { work() };
    let with_fault = match rule.kind {
        FacilitatorFault::CutBefore | FacilitatorFault::CutAfter => {
            FaultedResponse::Raw(RawResponse::reset())
        }
        FacilitatorFault::HangBefore | FacilitatorFault::HangAfter => {
            FaultedResponse::Raw(RawResponse::silence())
        }
        FacilitatorFault::RateLimited => {
            let busy = EmulatedResponse::json(429, &json!({ "error": "too many requests" }));
            FaultedResponse::Response(busy.with("retry-after", rule.seconds.to_string()))
        }
        FacilitatorFault::StatusBefore | FacilitatorFault::StatusAfter => {
            let words = json!({ "error": "the sandbox was asked to answer with this status" });
            FaultedResponse::Response(EmulatedResponse::json(rule.status, &words))
        }
        FacilitatorFault::Garbage => FaultedResponse::Response(EmulatedResponse::new(
            200,
            HTML,
            "<html>an answer once</html>",
        )),
        FacilitatorFault::Empty => FaultedResponse::Response(EmulatedResponse::new(200, HTML, "")),
        FacilitatorFault::Slow
        | FacilitatorFault::Refused
        | FacilitatorFault::Invented
        | FacilitatorFault::Pending
        | FacilitatorFault::PendingAs500
        | FacilitatorFault::FailsAfter
        | FacilitatorFault::WrongAmount
        | FacilitatorFault::NoAmount
        | FacilitatorFault::WrongNetwork
        | FacilitatorFault::WrongPayer
        | FacilitatorFault::NoTransaction
        | FacilitatorFault::MovesLess => done.outcome,
    };
    CallResult { outcome: with_fault, transaction: done.transaction }
}
