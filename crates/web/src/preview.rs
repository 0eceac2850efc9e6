//! The door to a look at a card: nothing is paid, nothing is mailed, nothing is kept.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use http::header::{CACHE_CONTROL, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, StatusCode};
use order::checkout::preview::Previews;
use serde::Serialize;

use crate::browsers::Welcome;
use crate::draft;
use crate::problem::{self, Problem, Retry};
use crate::refused::{refused, unread};
use crate::window::{Entry, Window};

pub(crate) const PATH: &str = "/api/x402/postcards/preview";

/// In a minute. The provider serves us sixty times a minute for everything
/// together, and those who pay come first.
const PREVIEWS: u32 = 15;

const WELCOME: Welcome = Welcome { methods: "POST, OPTIONS", headers: "content-type" };

struct Door {
    previews: Previews,
    window: Window,
}

/// Without previews the door stands there, and says that it is closed.
pub(crate) fn routes(previews: Option<Previews>) -> Router {
    let door = match previews {
        Some(previews) => {
            let door = Door { previews, window: Window::new(PREVIEWS) };
            post(show).with_state(Arc::new(door))
        }
        None => post(|| async { problem::NOT_CONFIGURED }),
    };
    WELCOME.to(Router::new().route(PATH, door))
}

async fn show(State(door): State<Arc<Door>>, headers: HeaderMap, body: Bytes) -> Response {
    let asked = match draft::read(door.previews.names.as_ref(), &headers, &body) {
        Ok(asked) => asked,
        Err(why) => return unread(&why),
    };
    // Who sends nonsense is told so and takes nobody's turn.
    let turn = door.window.take();
    match turn.entry {
        Entry::Admitted => {}
        Entry::Exhausted => return wait(turn.reset_seconds.get()),
    }
    match door.previews.show(asked.seller.as_ref(), &asked.card).await {
        Ok(preview) => shown(preview.urls),
        Err(refusal) => refused(&refusal),
    }
}

/// The addresses lead to the addressee's name, so no cache keeps them.
fn shown(preview_urls: Vec<String>) -> Response {
    let mut response = Json(Shown { preview_urls }).into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn wait(seconds: u64) -> Response {
    let mut response = BUSY.into_response();
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    response
}

const BUSY: Problem = Problem {
    status: StatusCode::SERVICE_UNAVAILABLE,
    code: "preview_busy",
    message: Cow::Borrowed(
        "Too many previews in this minute. Wait as long as Retry-After says, then ask \
         again. Do not send the card to be paid merely because of this.",
    ),
    retry: Retry::Same,
};

#[derive(Serialize)]
struct Shown {
    preview_urls: Vec<String>,
}

#[cfg(test)]
mod tests;
