//! The counter: where a call to either surface is judged, served, spoiled and noted.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, Method, Response, Uri};
use serde_json::Value;

use super::answer::Answer;
use super::books::{Books, Office, Twisted};
use super::card::Surface;
use super::fault::damage::{Timing, Twist};
use super::fault::operation::Operation;
use super::fault::rule::Rule;
use super::fault::spoil::{Outcome, spoil};
use super::journal::Call;
use super::request::Request;
use super::wire::listener::Wire;
use super::{lob, thanks_io};

pub(crate) async fn serve(
    State(office): State<Arc<Office>>,
    ConnectInfo(wire): ConnectInfo<Wire>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let (surface, prefix) = match uri.path().strip_prefix(lob::PREFIX) {
        Some(_) => (Surface::Lob, lob::PREFIX),
        None => (Surface::ThanksIo, thanks_io::PREFIX),
    };
    let parsed = if body.is_empty() { Ok(Value::Null) } else { serde_json::from_slice(&body) };
    let request = Request {
        method: &method,
        path: uri.path().strip_prefix(prefix).unwrap_or_default(),
        query: uri.query().unwrap_or_default(),
        headers: &headers,
        body: parsed.unwrap_or(Value::Bool(false)),
    };
    let mut books = office.books();
    let (operation, rule, outcome) = answer(&mut books, surface, &request);
    let (status, cards) = match &outcome {
        Outcome::Answer(answer) => (Some(answer.status), answer.cards.clone()),
        Outcome::Wire(_) => (None, Vec::new()),
    };
    if rule.as_ref().is_none_or(|rule| rule.kind.leaves_the_card_named()) {
        books.ledger.told(&cards);
    }
    let fault = rule.map(|rule| rule.kind);
    let call = Call { surface, operation, status, fault, body: &body, cards };
    let (now, kept) = (books.now(), books.settings.kept_journal_lines);
    books.journal.write(call, now, kept);
    match outcome {
        Outcome::Answer(answer) => answer.into_response(),
        Outcome::Wire(plan) => {
            wire.lay(plan);
            // Never seen: the plan takes the socket before its first byte.
            Response::new(Body::empty())
        }
    }
}

/// Who is not admitted, and what is no call at all, meets no fault.
fn answer(
    books: &mut Books,
    surface: Surface,
    request: &Request<'_>,
) -> (Option<Operation>, Option<Rule>, Outcome) {
    let (admitted, not_admitted, not_json) = match surface {
        Surface::ThanksIo => (
            thanks_io::admits(request.headers, &books.settings.token),
            thanks_io::not_admitted(),
            thanks_io::not_json(),
        ),
        Surface::Lob => (
            lob::admits(request.headers, &books.settings.token),
            lob::not_admitted(),
            lob::not_json(),
        ),
    };
    if !admitted {
        return (None, None, Outcome::Answer(not_admitted));
    }
    let found = match surface {
        Surface::ThanksIo => thanks_io::operation(request),
        Surface::Lob => lob::operation(request),
    };
    let operation = match found {
        Ok(operation) => operation,
        Err(answer) => return (None, None, Outcome::Answer(answer)),
    };
    let writes = matches!(operation, Operation::Preview | Operation::Estimate | Operation::Send);
    if writes && !request.body.is_object() {
        return (Some(operation), None, Outcome::Answer(not_json));
    }
    let reference = reference(books, operation, request);
    let rule = books.rules.meet(operation, reference.as_deref());
    let outcome = serve_with(books, surface, operation, request, rule.as_ref());
    (Some(operation), rule, outcome)
}

fn serve_with(
    books: &mut Books,
    surface: Surface,
    operation: Operation,
    request: &Request<'_>,
    rule: Option<&Rule>,
) -> Outcome {
    if let Some(rule) = rule.filter(|rule| rule.kind.timing() == Timing::Before) {
        return spoil(rule, Answer::json(200, &Value::Null));
    }
    let twisted = Twisted {
        twist: rule.map_or(Twist::None, |rule| rule.kind.twist()),
        seconds: rule.map_or(0, |rule| rule.seconds),
    };
    let good = match surface {
        Surface::ThanksIo => thanks_io::perform(books, operation, request, twisted),
        Surface::Lob => lob::perform(books, operation, request, twisted),
    };
    match rule {
        Some(rule) => spoil(rule, good),
        None => Outcome::Answer(good),
    }
}

/// The caller's order that this call is about, if it says so or the ledger knows.
fn reference(books: &Books, operation: Operation, request: &Request<'_>) -> Option<String> {
    let key = &books.settings.reference_key;
    match operation {
        Operation::Preview | Operation::Estimate | Operation::Send => {
            Some(request.body.get("metadata")?.get(key)?.as_str()?.to_owned())
        }
        Operation::List => request.asked(&format!("metadata[{key}]")),
        Operation::Track | Operation::Items | Operation::Cancel => {
            let name = request.path.trim_matches('/').split('/').nth(1)?;
            let card = match name.strip_prefix("psc_") {
                Some(token) => books.ledger.find_token(token),
                None => name.parse().ok().and_then(|id| books.ledger.find(id)),
            };
            card?.reference.clone()
        }
    }
}
