//! The control interface under `/__sandbox`: faults, journal, report, clock, settings.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Response, StatusCode, Uri, header};
use axum::routing::{get, post};
use serde_json::{Map, Value, json};
use url::form_urlencoded;

use crate::http::fields::JsonFields;
use crate::http::response::{EmulatedResponse, NOTICE};
use crate::provider::dates;
use crate::provider::fault::rule::ProviderFaultRule;
use crate::provider::state::card::DeliveryOutcome;
use crate::provider::state::journal::ProviderCall;
use crate::provider::state::report::ProviderReport;
use crate::provider::state::settings::SandboxAccountMode;
use crate::provider::state::{ProviderState, SharedState};
use order::model::country::CountryCode;
use order::model::money::Cents;

type Shared = State<Arc<SharedState>>;

/// An error is a response too.
type ControlResult = Result<Response<Body>, EmulatedResponse>;

pub(crate) fn routes() -> Router<Arc<SharedState>> {
    Router::new()
        .route("/__sandbox", get(index))
        .route("/__sandbox/faults", get(faults).post(add_faults).delete(clear_faults))
        .route("/__sandbox/journal", get(journal).delete(clear_journal))
        .route("/__sandbox/report", get(report).post(report_on))
        .route("/__sandbox/clock", get(clock).post(advance))
        .route("/__sandbox/settings", get(settings).patch(change_settings))
        .route("/__sandbox/cards", axum::routing::delete(clear_cards))
        .route("/__sandbox/cards/{id}/fate", post(set_outcome))
}

async fn index(State(shared): Shared) -> Response<Body> {
    let base = shared.lock().base.clone();
    ok(&json!({
        "notice": NOTICE,
        "mailbox": format!("{base}/"),
        "thanks_io": format!("{base}/api/v2"),
        "lob": format!("{base}/v1"),
        "control": {
            "GET, POST, DELETE /__sandbox/faults": "rules that break calls",
            "GET, DELETE /__sandbox/journal": "calls so far; ?after=<number>",
            "GET, POST /__sandbox/report": "lost and duplicate cards; POST {\"expected\":[references]}",
            "GET, POST /__sandbox/clock": "POST {\"advance_seconds\":n}",
            "GET, PATCH /__sandbox/settings": "review, list lag, stages, prices, test mode",
            "DELETE /__sandbox/cards": "an empty ledger",
            "POST /__sandbox/cards/{id}/fate": "{\"fate\":\"arrives\"|\"fails\"|\"returns\"}",
        },
    }))
}

async fn faults(State(shared): Shared) -> Response<Body> {
    ok(&rules(&shared.lock()))
}

/// Adds one rule or a list of rules: all or none.
async fn add_faults(State(shared): Shared, headers: HeaderMap, body: Bytes) -> ControlResult {
    let given = json_of(&headers, &body)?;
    let given = given.as_array().cloned().unwrap_or_else(|| vec![given]);
    let read: Result<Vec<ProviderFaultRule>, Map<String, Value>> =
        given.iter().map(ProviderFaultRule::read).collect();
    let mut state = shared.lock();
    read.map_err(invalid)?.into_iter().for_each(|rule| state.rules.add(rule));
    Ok(ok(&rules(&state)))
}

async fn clear_faults(State(shared): Shared) -> Response<Body> {
    let mut state = shared.lock();
    state.rules.clear();
    ok(&rules(&state))
}

fn rules(state: &ProviderState) -> Value {
    let rules: Vec<Value> = state.rules.all().map(|(rule, broken)| rule.write(broken)).collect();
    json!({ "faults": rules })
}

async fn journal(State(shared): Shared, uri: Uri) -> Response<Body> {
    let query = uri.query().unwrap_or_default();
    let after = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "after");
    let after: u64 = after.and_then(|(_, value)| value.parse().ok()).unwrap_or_default();
    let state = shared.lock();
    let lines = state.journal.lines().filter(|line| line.number > after);
    ok(&json!({ "journal": lines.map(ProviderCall::written).collect::<Vec<_>>() }))
}

async fn clear_journal(State(shared): Shared) -> Response<Body> {
    shared.lock().journal.clear();
    ok(&json!({ "journal": [] }))
}

async fn report(State(shared): Shared) -> Response<Body> {
    let state = shared.lock();
    ok(&ProviderReport::of(&state.ledger, &[], state.now()).written())
}

async fn report_on(State(shared): Shared, headers: HeaderMap, body: Bytes) -> ControlResult {
    let body = json_of(&headers, &body)?;
    let mut fields = JsonFields::of(&body);
    let expected = fields.read("expected", "This must be a list of references.", |value| {
        value.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
    });
    fields.done().map_err(invalid)?;
    let expected: Vec<String> = expected.unwrap_or_default();
    let state = shared.lock();
    Ok(ok(&ProviderReport::of(&state.ledger, &expected, state.now()).written()))
}

async fn clock(State(shared): Shared) -> Response<Body> {
    ok(&time(&shared.lock()))
}

async fn advance(State(shared): Shared, headers: HeaderMap, body: Bytes) -> ControlResult {
    let body = json_of(&headers, &body)?;
    let mut fields = JsonFields::of(&body);
    let seconds = fields.number("advance_seconds", 0..=315_360_000);
    if seconds.is_none() {
        fields.missing("advance_seconds");
    }
    fields.done().map_err(invalid)?;
    let mut state = shared.lock();
    state.clock.advance(seconds.unwrap_or_default());
    Ok(ok(&time(&state)))
}

fn time(state: &ProviderState) -> Value {
    let now = state.now();
    json!({
        "now": dates::instant(now),
        "now_seconds": now.0,
        "ahead_seconds": state.clock.ahead_seconds(),
    })
}

async fn settings(State(shared): Shared) -> Response<Body> {
    ok(&settings_json(&shared.lock()))
}

async fn change_settings(State(shared): Shared, headers: HeaderMap, body: Bytes) -> ControlResult {
    let body = json_of(&headers, &body)?;
    let mut state = shared.lock();
    let mut changed = state.settings.clone();
    let mut fields = JsonFields::of(&body);
    for (name, place) in [
        ("review_seconds", &mut changed.review_seconds),
        ("list_lag_seconds", &mut changed.list_lag_seconds),
        ("transit_seconds", &mut changed.transit_seconds),
        ("delivery_seconds", &mut changed.delivery_seconds),
    ] {
        *place = fields.number(name, 0..=315_360_000).unwrap_or(*place);
    }
    let test_mode = fields.read("test_mode", "This must be true or false.", Value::as_bool);
    changed.account = match test_mode {
        Some(true) => SandboxAccountMode::Testing,
        Some(false) => SandboxAccountMode::Production,
        None => changed.account,
    };
    let words = "This must be an object from country codes to cents.";
    let prices = fields.read("prices", words, |value| {
        let priced = |(code, cents): (&String, &Value)| {
            let country = CountryCode::parse(code).ok()?;
            Some((country.as_str().to_owned(), Cents(cents.as_u64()?)))
        };
        value.as_object()?.iter().map(priced).collect()
    });
    changed.prices = prices.unwrap_or(changed.prices);
    fields.done().map_err(invalid)?;
    state.settings = changed;
    Ok(ok(&settings_json(&state)))
}

fn settings_json(state: &ProviderState) -> Value {
    let settings = &state.settings;
    let prices: Map<String, Value> =
        settings.prices.iter().map(|(code, cents)| (code.clone(), cents.0.into())).collect();
    json!({
        "review_seconds": settings.review_seconds,
        "list_lag_seconds": settings.list_lag_seconds,
        "transit_seconds": settings.transit_seconds,
        "delivery_seconds": settings.delivery_seconds,
        "test_mode": settings.account == SandboxAccountMode::Testing,
        "prices": prices,
    })
}

async fn clear_cards(State(shared): Shared) -> Response<Body> {
    let mut state = shared.lock();
    state.ledger.clear();
    ok(&ProviderReport::of(&state.ledger, &[], state.now()).written())
}

async fn set_outcome(
    State(shared): Shared,
    Path(id): Path<u64>,
    headers: HeaderMap,
    body: Bytes,
) -> ControlResult {
    let body = json_of(&headers, &body)?;
    let mut fields = JsonFields::of(&body);
    let outcome = fields.word("fate", "arrives, fails, returns", |word| {
        DeliveryOutcome::ALL.into_iter().find(|outcome| outcome.written() == word)
    });
    if outcome.is_none() {
        fields.missing("fate");
    }
    fields.done().map_err(invalid)?;
    let mut state = shared.lock();
    match (state.ledger.find_mut(id), outcome) {
        (Some(card), Some(outcome)) => card.outcome = outcome,
        (_, _) => {
            let words = json!({ "message": "No card has this id." });
            return Err(EmulatedResponse::json(404, &words));
        }
    }
    Ok(ok(&json!({ "id": id, "fate": outcome.map(DeliveryOutcome::written) })))
}

/// The body, if it is JSON with the content type of JSON. A foreign page in a browser cannot
/// send that type without a CORS preflight, which this server refuses.
fn json_of(headers: &HeaderMap, body: &[u8]) -> Result<Value, EmulatedResponse> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if !kind.is_some_and(|kind| kind.starts_with("application/json")) {
        let words = json!({ "message": "Send JSON, with Content-Type: application/json." });
        return Err(EmulatedResponse::json(StatusCode::UNSUPPORTED_MEDIA_TYPE.as_u16(), &words));
    }
    serde_json::from_slice(body).map_err(|_| {
        EmulatedResponse::json(400, &json!({ "message": "The body is not valid JSON." }))
    })
}

fn ok(body: &Value) -> Response<Body> {
    EmulatedResponse::json(200, body).into_response()
}

fn invalid(faults: Map<String, Value>) -> EmulatedResponse {
    let body = json!({ "message": "The given data was invalid.", "errors": faults });
    EmulatedResponse::json(422, &body)
}
