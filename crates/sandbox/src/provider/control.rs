//! The back door under `/__sandbox`: faults, journal, report, clock, settings.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Response, StatusCode, Uri, header};
use axum::routing::{get, post};
use serde_json::{Map, Value, json};
use url::form_urlencoded;

use super::answer::{Answer, NOTICE};
use super::books::{Books, Office};
use super::calendar;
use super::card::Fate;
use super::fault::rule::Rule;
use super::fields::Fields;
use super::journal::Line;
use super::report::Report;
use super::settings::Account;
use order::model::country::CountryCode;
use order::model::money::Cents;

type Shared = State<Arc<Office>>;

pub(crate) fn routes() -> Router<Arc<Office>> {
    Router::new()
        .route("/__sandbox", get(index))
        .route("/__sandbox/faults", get(faults).post(add_faults).delete(clear_faults))
        .route("/__sandbox/journal", get(journal).delete(clear_journal))
        .route("/__sandbox/report", get(report).post(report_on))
        .route("/__sandbox/clock", get(clock).post(advance))
        .route("/__sandbox/settings", get(settings).patch(change_settings))
        .route("/__sandbox/cards", axum::routing::delete(clear_cards))
        .route("/__sandbox/cards/{id}/fate", post(set_fate))
}

async fn index(State(office): Shared) -> Response<Body> {
    let base = office.books().base.clone();
    good(&json!({
        "notice": NOTICE,
        "mailbox": format!("{base}/"),
        "thanks_io": format!("{base}/api/v2"),
        "lob": format!("{base}/v1"),
        "control": {
            "GET, POST, DELETE /__sandbox/faults": "rules that break calls",
            "GET, DELETE /__sandbox/journal": "calls so far; ?after=<number>",
            "GET, POST /__sandbox/report": "lost and doubled cards; POST {\"expected\":[references]}",
            "GET, POST /__sandbox/clock": "POST {\"advance_seconds\":n}",
            "GET, PATCH /__sandbox/settings": "review, list lag, stages, prices, test mode",
            "DELETE /__sandbox/cards": "an empty ledger",
            "POST /__sandbox/cards/{id}/fate": "{\"fate\":\"arrives\"|\"fails\"|\"returns\"}",
        },
    }))
}

async fn faults(State(office): Shared) -> Response<Body> {
    good(&rules(&office.books()))
}

/// One rule, or a list of them: all or none.
async fn add_faults(State(office): Shared, headers: HeaderMap, body: Bytes) -> Response<Body> {
    let given = match json_of(&headers, &body) {
        Ok(Value::Array(several)) => several,
        Ok(one) => vec![one],
        Err(answer) => return answer.into_response(),
    };
    let read: Result<Vec<Rule>, Map<String, Value>> = given.iter().map(Rule::read).collect();
    let mut books = office.books();
    match read {
        Ok(read) => read.into_iter().for_each(|rule| books.rules.add(rule)),
        Err(faults) => return invalid(faults),
    }
    good(&rules(&books))
}

async fn clear_faults(State(office): Shared) -> Response<Body> {
    let mut books = office.books();
    books.rules.clear();
    good(&rules(&books))
}

fn rules(books: &Books) -> Value {
    let rules: Vec<Value> = books.rules.all().map(|(rule, broken)| rule.write(broken)).collect();
    json!({ "faults": rules })
}

async fn journal(State(office): Shared, uri: Uri) -> Response<Body> {
    let query = uri.query().unwrap_or_default();
    let after = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "after");
    let after: u64 = after.and_then(|(_, value)| value.parse().ok()).unwrap_or_default();
    let books = office.books();
    let lines = books.journal.lines().filter(|line| line.number > after);
    good(&json!({ "journal": lines.map(Line::written).collect::<Vec<_>>() }))
}

async fn clear_journal(State(office): Shared) -> Response<Body> {
    office.books().journal.clear();
    good(&json!({ "journal": [] }))
}

async fn report(State(office): Shared) -> Response<Body> {
    let books = office.books();
    good(&Report::of(&books.ledger, &[], books.now()).written())
}

async fn report_on(State(office): Shared, headers: HeaderMap, body: Bytes) -> Response<Body> {
    let body = match json_of(&headers, &body) {
        Ok(body) => body,
        Err(answer) => return answer.into_response(),
    };
    let mut fields = Fields::of(&body);
    let expected = fields.read("expected", "This must be a list of references.", |value| {
        value.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
    });
    if let Err(faults) = fields.done() {
        return invalid(faults);
    }
    let expected: Vec<String> = expected.unwrap_or_default();
    let books = office.books();
    good(&Report::of(&books.ledger, &expected, books.now()).written())
}

async fn clock(State(office): Shared) -> Response<Body> {
    good(&time(&office.books()))
}

async fn advance(State(office): Shared, headers: HeaderMap, body: Bytes) -> Response<Body> {
    let body = match json_of(&headers, &body) {
        Ok(body) => body,
        Err(answer) => return answer.into_response(),
    };
    let mut fields = Fields::of(&body);
    let seconds = fields.number("advance_seconds", 0..=315_360_000);
    if seconds.is_none() {
        fields.missing("advance_seconds");
    }
    if let Err(faults) = fields.done() {
        return invalid(faults);
    }
    let mut books = office.books();
    books.clock.advance(seconds.unwrap_or_default());
    good(&time(&books))
}

fn time(books: &Books) -> Value {
    let now = books.now();
    json!({
        "now": calendar::instant(now),
        "now_seconds": now.0,
        "ahead_seconds": books.clock.ahead_seconds(),
    })
}

async fn settings(State(office): Shared) -> Response<Body> {
    good(&chosen(&office.books()))
}

async fn change_settings(State(office): Shared, headers: HeaderMap, body: Bytes) -> Response<Body> {
    let body = match json_of(&headers, &body) {
        Ok(body) => body,
        Err(answer) => return answer.into_response(),
    };
    let mut books = office.books();
    let mut changed = books.settings.clone();
    let mut fields = Fields::of(&body);
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
        Some(true) => Account::Testing,
        Some(false) => Account::Production,
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
    if let Err(faults) = fields.done() {
        return invalid(faults);
    }
    books.settings = changed;
    good(&chosen(&books))
}

fn chosen(books: &Books) -> Value {
    let settings = &books.settings;
    let prices: Map<String, Value> =
        settings.prices.iter().map(|(code, cents)| (code.clone(), cents.0.into())).collect();
    json!({
        "review_seconds": settings.review_seconds,
        "list_lag_seconds": settings.list_lag_seconds,
        "transit_seconds": settings.transit_seconds,
        "delivery_seconds": settings.delivery_seconds,
        "test_mode": settings.account == Account::Testing,
        "prices": prices,
    })
}

async fn clear_cards(State(office): Shared) -> Response<Body> {
    let mut books = office.books();
    books.ledger.clear();
    good(&Report::of(&books.ledger, &[], books.now()).written())
}

async fn set_fate(
    State(office): Shared,
    Path(id): Path<u64>,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let body = match json_of(&headers, &body) {
        Ok(body) => body,
        Err(answer) => return answer.into_response(),
    };
    let mut fields = Fields::of(&body);
    let fate = fields.word("fate", "arrives, fails, returns", |word| {
        Fate::ALL.into_iter().find(|fate| fate.written() == word)
    });
    if fate.is_none() {
        fields.missing("fate");
    }
    if let Err(faults) = fields.done() {
        return invalid(faults);
    }
    let mut books = office.books();
    match (books.ledger.find_mut(id), fate) {
        (Some(card), Some(fate)) => card.fate = fate,
        (_, _) => {
            let words = json!({ "message": "No card has this id." });
            return Answer::json(404, &words).into_response();
        }
    }
    good(&json!({ "id": id, "fate": fate.map(Fate::written) }))
}

/// The body, if it says that it is JSON and is. A page in a browser cannot say
/// so to a stranger's server without asking first, and nobody here says yes.
fn json_of(headers: &HeaderMap, body: &[u8]) -> Result<Value, Answer> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if !kind.is_some_and(|kind| kind.starts_with("application/json")) {
        let words = json!({ "message": "Send JSON, with Content-Type: application/json." });
        return Err(Answer::json(StatusCode::UNSUPPORTED_MEDIA_TYPE.as_u16(), &words));
    }
    serde_json::from_slice(body)
        .map_err(|_| Answer::json(400, &json!({ "message": "The body is not valid JSON." })))
}

fn good(body: &Value) -> Response<Body> {
    Answer::json(200, body).into_response()
}

fn invalid(faults: Map<String, Value>) -> Response<Body> {
    let body = json!({ "message": "The given data was invalid.", "errors": faults });
    Answer::json(422, &body).into_response()
}
