//! Anonymous registration: a signed read-only token for whoever cannot work without one.
//!
//! Nothing is stored. A token carries all that there is to know about its
//! registration, so there is nothing to claim and nothing to revoke.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use http::header::{AUTHORIZATION, CACHE_CONTROL};
use http::{HeaderMap, HeaderValue};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::agents::refusal::{Fields, Refusal};
use crate::agents::token::{Registration, SCOPE, TokenKeys};
use crate::browsers::Welcome;
use crate::window::{Entry, Window};

mod refusal;
pub mod token;

pub use refusal::unauthorized;

const ANONYMOUS: &str = "anonymous";
const IDENTITY_ASSERTION: &str = "identity_assertion";
const ACCESS_TOKEN: &str = "access_token";
/// Where an identity assertion is sent, whatever `type` says.
const ASSERTION: &str = "assertion";

const WELCOME: Welcome =
    Welcome { methods: "POST, OPTIONS", headers: "content-type, authorization" };

/// In a minute. An agent needs one registration for life, so this is many agents.
const REGISTRATIONS: u32 = 60;

/// Sixteen bytes that nobody can foresee, or nothing if there are none to be had.
pub type Randomness = Arc<dyn Fn() -> Option<[u8; 16]> + Send + Sync>;

/// Whether the configuration lets agents register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enabled {
    Yes,
    No,
}

/// What registration needs to know.
pub struct Registry {
    pub keys: TokenKeys,
    pub randomness: Randomness,
    pub enabled: Enabled,
    /// The public address of the site, without a slash at its end.
    pub base_url: String,
}

/// The registry at work.
struct Counter {
    registry: Registry,
    window: Window,
}

/// Call it once in a process: each call opens a window of its own.
pub fn routes(registry: Registry) -> Router {
    let counter = Counter { registry, window: Window::new(REGISTRATIONS) };
    let routes = Router::new()
        .route("/agent/auth", post(register))
        .route("/agent/auth/claim", post(claim))
        .route("/agent/auth/revoke", post(revoke));
    WELCOME.to(routes.with_state(Arc::new(counter)))
}

/// The token that a request offers: empty if it offers none that can be read,
/// and nothing if it does not speak of a bearer at all.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get_all(AUTHORIZATION).iter().find_map(|value| {
        let (scheme, token) = value.as_bytes().split_at_checked("Bearer".len())?;
        let ends = token.first().is_none_or(|next| *next == b' ');
        (ends && scheme.eq_ignore_ascii_case(b"Bearer"))
            .then(|| str::from_utf8(token).unwrap_or_default().trim_matches(' '))
    })
}

async fn register(State(counter): State<Arc<Counter>>, body: Bytes) -> Response {
    match counter.admit(&body) {
        Ok(registration) => counter.registered(registration),
        Err(refusal) => refusal.into_response(),
    }
}

async fn claim(State(counter): State<Arc<Counter>>, headers: HeaderMap) -> Response {
    if let Some(refused) = counter.refuse_foreign_token(&headers) {
        return refused;
    }
    Refusal::NothingToClaim.into_response()
}

async fn revoke(State(counter): State<Arc<Counter>>, headers: HeaderMap) -> Response {
    if let Some(refused) = counter.refuse_foreign_token(&headers) {
        return refused;
    }
    fresh(Revoked {
        revoked: 0,
        message: "Nothing is stored here, so there is nothing to revoke. The token opens only \
                  what is public anyway; to be rid of it, delete your copy.",
    })
}

impl Counter {
    fn admit(&self, body: &[u8]) -> Result<[u8; 16], Refusal> {
        // Before the body is looked at: whoever sends garbage in a loop costs
        // as much as whoever registers in one, and learns of the limit as soon.
        let turn = self.window.take();
        match turn.entry {
            Entry::Admitted => {}
            Entry::Exhausted => return Err(Refusal::RateLimited { wait: turn.reset_seconds }),
        }
        check(body)?;
        // Last, so that an agent which asks wrongly is told what is wrong, and
        // "stop" is said only to whoever asked for what would have been given.
        match self.registry.enabled {
            Enabled::Yes => (self.registry.randomness)().ok_or(Refusal::NoRandomness),
            Enabled::No => Err(Refusal::SwitchedOff),
        }
    }

    fn registered(&self, registration: [u8; 16]) -> Response {
        fresh(Registered {
            registration_id: Registration::new(registration).to_string(),
            registration_type: ANONYMOUS,
            credential_type: ACCESS_TOKEN,
            credential: self.registry.keys.issue(registration),
            credential_expires: (),
            scopes: [SCOPE],
        })
    }

    /// No token is needed here, but one that is offered must be ours: an agent
    /// that holds a dead one learns it where it asks about tokens.
    fn refuse_foreign_token(&self, headers: &HeaderMap) -> Option<Response> {
        match self.registry.keys.verify(bearer(headers)?) {
            Ok(_) => None,
            Err(_) => Some(unauthorized(&self.registry.base_url)),
        }
    }
}

/// Whether a body asks for what is given here: an anonymous access token.
/// Members that we do not know are passed over.
fn check(body: &[u8]) -> Result<(), Refusal> {
    let asked: Map<String, Value> =
        serde_json::from_slice(body).map_err(|_| Refusal::NotAnObject)?;
    let word = |name: &str| asked.get(name).and_then(Value::as_str);
    let (identity, credential) = (word("type"), word("requested_credential_type"));
    if asked.contains_key(ASSERTION) {
        return Err(Refusal::IdentityAssertion);
    }
    match (identity, credential) {
        (Some(IDENTITY_ASSERTION), _) => Err(Refusal::IdentityAssertion),
        (Some(ANONYMOUS), Some(ACCESS_TOKEN)) => Ok(()),
        (Some(ANONYMOUS), Some(_)) => Err(Refusal::CredentialType),
        (Some(ANONYMOUS), None) => Err(Refusal::Fields(Fields::Credential)),
        (_, Some(ACCESS_TOKEN)) => Err(Refusal::Fields(Fields::Type)),
        (_, _) => Err(Refusal::Fields(Fields::Both)),
    }
}

/// An answer that no cache may keep.
fn fresh(body: impl Serialize) -> Response {
    let mut response = Json(body).into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[derive(Serialize)]
struct Registered {
    registration_id: String,
    registration_type: &'static str,
    credential_type: &'static str,
    credential: String,
    /// Always null: the token does not expire.
    credential_expires: (),
    scopes: [&'static str; 1],
}

#[derive(Serialize)]
struct Revoked {
    revoked: u32,
    message: &'static str,
}

#[cfg(test)]
mod tests;
