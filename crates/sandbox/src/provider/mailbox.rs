//! The mailbox page: pictures of all "mailed" cards, newest first.

mod page;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Response};
use axum::routing::{get, post};
use serde_json::json;

use crate::http::response::{EmulatedResponse, HTML, SVG};
use crate::provider::host;
use crate::provider::picture::canvas::DrawingPurpose;
use crate::provider::picture::{self, CardSide};
use crate::provider::state::SharedState;

type Shared = State<Arc<SharedState>>;

/// No external resources, no scripts, no frames.
const PAGE_POLICY: &str = "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; \
                           form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// The same for a drawing that is opened by itself.
const PICTURE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";
const HOUR_SECONDS: u64 = 3_600;

pub(crate) fn routes() -> Router<Arc<SharedState>> {
    Router::new()
        .route("/", get(page))
        .route("/let-an-hour-pass", post(let_an_hour_pass))
        .route("/cards/{token}/{side}", get(card))
        .route("/previews/{token}/{side}", get(preview))
}

async fn page(State(shared): Shared) -> Response<Body> {
    let page = page::write(&shared.lock());
    EmulatedResponse::new(200, HTML, page)
        .with("content-security-policy", PAGE_POLICY)
        .into_response()
}

/// Advances the clock, so that a visitor sees cards progress.
async fn let_an_hour_pass(State(shared): Shared, headers: HeaderMap) -> Response<Body> {
    if !host::is_same_origin(&headers) {
        let words = json!({ "message": "Use this button on the mailbox page only." });
        return EmulatedResponse::json(403, &words).into_response();
    }
    shared.lock().clock.advance(HOUR_SECONDS);
    EmulatedResponse::new(303, HTML, "").with("location", "/").into_response()
}

async fn card(
    State(shared): Shared,
    Path((token, side)): Path<(String, String)>,
) -> Response<Body> {
    // Drawing is slow, so the lock is released before it.
    let found = shared.lock().ledger.find_token(&token).cloned();
    match (found, CardSide::read(&side)) {
        (Some(card), Some(side)) => {
            let (at, occasion) = (card.accepted_at, DrawingPurpose::Card(card.id));
            drawing(picture::draw(side, &card.content, at, occasion))
        }
        (_, _) => gone(),
    }
}

async fn preview(
    State(shared): Shared,
    Path((token, side)): Path<(String, String)>,
) -> Response<Body> {
    let found = shared.lock().find_preview(&token);
    match (found, CardSide::read(&side)) {
        (Some(preview), Some(side)) => {
            drawing(picture::draw(side, &preview.content, preview.at, DrawingPurpose::Preview))
        }
        (_, _) => gone(),
    }
}

fn drawing(svg: String) -> Response<Body> {
    EmulatedResponse::new(200, SVG, svg)
        .with("content-security-policy", PICTURE_POLICY)
        .into_response()
}

fn gone() -> Response<Body> {
    let words =
        "No such picture. A preview is kept for an hour; a card until newer ones push it out.";
    EmulatedResponse::json(404, &json!({ "message": words })).into_response()
}

pub(crate) async fn not_found() -> Response<Body> {
    let words = "Nothing here. The mailbox is at /, the dialects at /api/v2 and /v1, \
                 the controls at /__sandbox.";
    EmulatedResponse::json(404, &json!({ "message": words })).into_response()
}
