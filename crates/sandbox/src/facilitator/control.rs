//! The control interface under `/__sandbox`: faults and journal.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::Response;
use axum::routing::get;
use serde_json::{Map, Value, json};

use crate::facilitator::fault::{FacilitatorFault, FacilitatorFaultRule};
use crate::facilitator::state::{CallRecords, FacilitatorCall, FacilitatorState};
use crate::http::response::EmulatedResponse;

type Shared = State<Arc<FacilitatorState>>;

pub(crate) fn routes() -> Router<Arc<FacilitatorState>> {
    Router::new()
        .route("/__sandbox/faults", get(faults).post(add_faults).delete(clear_faults))
        .route("/__sandbox/journal", get(journal).delete(clear_journal))
}

async fn faults(State(state): Shared) -> Response<Body> {
    rules(&state.calls())
}

/// Adds one rule or a list of rules: all or none.
async fn add_faults(State(state): Shared, body: Bytes) -> Response<Body> {
    let given = match serde_json::from_slice(&body) {
        Ok(Value::Array(several)) => several,
        Ok(one) => vec![one],
        Err(_) => {
            let words = json!({ "message": "The body is not valid JSON." });
            return EmulatedResponse::json(400, &words).into_response();
        }
    };
    let read: Result<Vec<FacilitatorFaultRule>, Map<String, Value>> =
        given.iter().map(FacilitatorFaultRule::read).collect();
    match read {
        Ok(read) => {
            let mut calls = state.calls();
            read.into_iter().for_each(|rule| calls.rules.add(rule));
            rules(&calls)
        }
        Err(faults) => {
            let body = json!({ "message": "The given data was invalid.", "errors": faults });
            EmulatedResponse::json(422, &body).into_response()
        }
    }
}

async fn clear_faults(State(state): Shared) -> Response<Body> {
    let mut calls = state.calls();
    calls.rules.clear();
    rules(&calls)
}

async fn journal(State(state): Shared) -> Response<Body> {
    let lines: Vec<Value> = state.calls().journal.iter().map(written).collect();
    ok(&json!({ "journal": lines }))
}

async fn clear_journal(State(state): Shared) -> Response<Body> {
    state.calls().journal.clear();
    ok(&json!({ "journal": [] }))
}

fn rules(calls: &CallRecords) -> Response<Body> {
    ok(
        &json!({ "faults": calls.rules.all().map(|(rule, broken)| rule.write(broken)).collect::<Value>() }),
    )
}

fn written(line: &FacilitatorCall) -> Value {
    json!({
        "number": line.number,
        "operation": line.operation.written(),
        "fault": line.fault.map(FacilitatorFault::written),
        "status": line.status,
        "transaction": line.transaction,
    })
}

fn ok(body: &Value) -> Response<Body> {
    EmulatedResponse::json(200, body).into_response()
}
