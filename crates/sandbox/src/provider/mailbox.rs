//! The mailbox: every card that was "mailed", as pictures, newest first.

mod page;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Response};
use axum::routing::{get, post};
use serde_json::json;

use super::answer::{Answer, HTML, SVG};
use super::books::Office;
use super::host;
use super::picture::{self, Occasion, Side};

type Shared = State<Arc<Office>>;

/// Nothing from anywhere else, no script, no frame around it.
const PAGE_POLICY: &str = "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; \
                           form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// A drawing that is opened by itself gets nothing either.
const PICTURE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";
const HOUR_SECONDS: u64 = 3_600;

pub(crate) fn routes() -> Router<Arc<Office>> {
    Router::new()
        .route("/", get(page))
        .route("/let-an-hour-pass", post(let_an_hour_pass))
        .route("/cards/{token}/{side}", get(card))
        .route("/previews/{token}/{side}", get(preview))
}

async fn page(State(office): Shared) -> Response<Body> {
    let page = page::write(&office.books());
    Answer::new(200, HTML, page).with("content-security-policy", PAGE_POLICY).into_response()
}

/// Cards move with the clock, and a visitor is in a hurry.
async fn let_an_hour_pass(State(office): Shared, headers: HeaderMap) -> Response<Body> {
    if !host::is_same_origin(&headers) {
        let words = json!({ "message": "This button belongs to the mailbox page." });
        return Answer::json(403, &words).into_response();
    }
    office.books().clock.advance(HOUR_SECONDS);
    Answer::new(303, HTML, "").with("location", "/").into_response()
}

async fn card(
    State(office): Shared,
    Path((token, side)): Path<(String, String)>,
) -> Response<Body> {
    // Drawing takes its time, so the books are closed before it.
    let found = office.books().ledger.find_token(&token).cloned();
    match (found, Side::read(&side)) {
        (Some(card), Some(side)) => {
            let (at, occasion) = (card.accepted_at, Occasion::Card(card.id));
            drawing(picture::draw(side, &card.sheet, at, occasion))
        }
        (_, _) => gone(),
    }
}

async fn preview(
    State(office): Shared,
    Path((token, side)): Path<(String, String)>,
) -> Response<Body> {
    let found = office.books().find_preview(&token);
    match (found, Side::read(&side)) {
        (Some(preview), Some(side)) => {
            drawing(picture::draw(side, &preview.sheet, preview.at, Occasion::Preview))
        }
        (_, _) => gone(),
    }
}

fn drawing(svg: String) -> Response<Body> {
    Answer::new(200, SVG, svg).with("content-security-policy", PICTURE_POLICY).into_response()
}

fn gone() -> Response<Body> {
    let words =
        "No such picture. A preview is kept for an hour; a card until newer ones push it out.";
    Answer::json(404, &json!({ "message": words })).into_response()
}

pub(crate) async fn not_found() -> Response<Body> {
    let words = "Nothing here. The mailbox is at /, the dialects at /api/v2 and /v1, \
                 the controls at /__sandbox.";
    Answer::json(404, &json!({ "message": words })).into_response()
}
