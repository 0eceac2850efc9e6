//! The back door under `/__sandbox`: faults and journal.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::Response;
use axum::routing::get;
use serde_json::{Map, Value, json};

use super::fault::{Kind, Rule};
use super::{Books, Desk, Line};
use crate::provider::answer::Answer;

type Shared = State<Arc<Desk>>;

pub(super) fn routes() -> Router<Arc<Desk>> {
    Router::new()
        .route("/__sandbox/faults", get(faults).post(add_faults).delete(clear_faults))
        .route("/__sandbox/journal", get(journal).delete(clear_journal))
}

async fn faults(State(desk): Shared) -> Response<Body> {
    rules(&desk.books())
}

/// One rule, or a list of them: all or none.
async fn add_faults(State(desk): Shared, body: Bytes) -> Response<Body> {
    let given = match serde_json::from_slice(&body) {
        Ok(Value::Array(several)) => several,
        Ok(one) => vec![one],
        Err(_) => {
            let words = json!({ "message": "The body is not valid JSON." });
            return Answer::json(400, &words).into_response();
        }
    };
    let read: Result<Vec<Rule>, Map<String, Value>> = given.iter().map(Rule::read).collect();
    match read {
        Ok(read) => {
            let mut books = desk.books();
            read.into_iter().for_each(|rule| books.rules.add(rule));
            rules(&books)
        }
        Err(faults) => {
            let body = json!({ "message": "The given data was invalid.", "errors": faults });
            Answer::json(422, &body).into_response()
        }
    }
}

async fn clear_faults(State(desk): Shared) -> Response<Body> {
    let mut books = desk.books();
    books.rules.clear();
    rules(&books)
}

async fn journal(State(desk): Shared) -> Response<Body> {
    let lines: Vec<Value> = desk.books().journal.iter().map(written).collect();
    good(&json!({ "journal": lines }))
}

async fn clear_journal(State(desk): Shared) -> Response<Body> {
    desk.books().journal.clear();
    good(&json!({ "journal": [] }))
}

fn rules(books: &Books) -> Response<Body> {
    good(&json!({ "faults": books.rules.written() }))
}

fn written(line: &Line) -> Value {
    json!({
        "number": line.number,
        "operation": line.operation.written(),
        "fault": line.fault.map(Kind::written),
        "status": line.status,
        "transaction": line.transaction,
    })
}

fn good(body: &Value) -> Response<Body> {
    Answer::json(200, body).into_response()
}
