//! `POST /agent/auth`: anonymous registration, which issues a signed read-only token.
//!
//! Nothing is stored. A token contains its registration, so claim and revoke have no effect.

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

use crate::http::cors::CorsPolicy;
use crate::http::rate_limit::{Admission, RateLimiter};
use crate::routes::agents::refusal::{InvalidFields, RegistrationError};
use crate::routes::agents::token::{Registration, SCOPE, TokenKeys};

mod refusal;
pub mod token;

pub use refusal::unauthorized;

const ANONYMOUS: &str = "anonymous";
const IDENTITY_ASSERTION: &str = "identity_assertion";
const ACCESS_TOKEN: &str = "access_token";
/// The member of an identity assertion, for any `type`.
const ASSERTION: &str = "assertion";

const CORS: CorsPolicy = CorsPolicy {
    allow_methods: "POST, OPTIONS",
    allow_headers: "content-type, authorization",
    expose_headers: None,
};

/// Per minute. An agent needs one registration, so this is enough for many agents.
const REGISTRATIONS: u32 = 60;

/// Sixteen random bytes, or none if the source fails.
pub type RandomSource = Arc<dyn Fn() -> Option<[u8; 16]> + Send + Sync>;

/// Whether agents can register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegistrationMode {
    Open,
    Closed,
}

/// What registration needs.
pub struct AgentRegistry {
    pub keys: TokenKeys,
    pub random: RandomSource,
    pub mode: RegistrationMode,
    /// The public URL of the site, without a trailing slash.
    pub base_url: String,
}

/// The registry and its rate limiter.
struct RegistrationState {
    registry: AgentRegistry,
    limiter: RateLimiter,
}

/// Call it once per process, because each call creates a rate limiter.
pub fn routes(registry: AgentRegistry) -> Router {
    let state = RegistrationState { registry, limiter: RateLimiter::new(REGISTRATIONS) };
    let routes = Router::new()
        .route("/agent/auth", post(register))
        .route("/agent/auth/claim", post(claim))
        .route("/agent/auth/revoke", post(revoke));
    CORS.apply(routes.with_state(Arc::new(state)))
}

/// The bearer token of a request: empty if it is unreadable, none without a bearer header.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get_all(AUTHORIZATION).iter().find_map(|value| {
        let (scheme, token) = value.as_bytes().split_at_checked("Bearer".len())?;
        let ends = token.first().is_none_or(|next| *next == b' ');
        (ends && scheme.eq_ignore_ascii_case(b"Bearer"))
            .then(|| str::from_utf8(token).unwrap_or_default().trim_matches(' '))
    })
}

async fn register(State(state): State<Arc<RegistrationState>>, body: Bytes) -> Response {
    match state.admit(&body) {
        Ok(registration) => state.registered(registration),
        Err(refusal) => refusal.into_response(),
    }
}

async fn claim(State(state): State<Arc<RegistrationState>>, headers: HeaderMap) -> Response {
    if let Some(refused) = state.reject_foreign_token(&headers) {
        return refused;
    }
    RegistrationError::ClaimNotRequired.into_response()
}

async fn revoke(State(state): State<Arc<RegistrationState>>, headers: HeaderMap) -> Response {
    if let Some(refused) = state.reject_foreign_token(&headers) {
        return refused;
    }
    uncached(RevocationBody {
        revoked: 0,
        message: "Tokens are not stored, so nothing was revoked. The token gives access to public \
                  data only; delete your copy to discard it.",
    })
}

impl RegistrationState {
    fn admit(&self, body: &[u8]) -> Result<[u8; 16], RegistrationError> {
        // Before the body is parsed, so that invalid requests are limited too.
        let decision = self.limiter.take();
        match decision.admission {
            Admission::Admitted => {}
            Admission::Exhausted => {
                return Err(RegistrationError::RateLimited { wait: decision.reset_seconds });
            }
        }
        check(body)?;
        // Last, so that an invalid request gets its own error, and only a valid one learns that
        // registration is closed.
        match self.registry.mode {
            RegistrationMode::Open => {
                (self.registry.random)().ok_or(RegistrationError::RandomSourceFailed)
            }
            RegistrationMode::Closed => Err(RegistrationError::Disabled),
        }
    }

    fn registered(&self, registration: [u8; 16]) -> Response {
        uncached(RegistrationBody {
            registration_id: Registration::new(registration).to_string(),
            registration_type: ANONYMOUS,
            credential_type: ACCESS_TOKEN,
            credential: self.registry.keys.issue(registration),
            credential_expires: (),
            scopes: [SCOPE],
        })
    }

    /// No token is required, but an invalid one is rejected, so that an agent learns that it must
    /// register again.
    fn reject_foreign_token(&self, headers: &HeaderMap) -> Option<Response> {
        match self.registry.keys.verify(bearer(headers)?) {
            Ok(_) => None,
            Err(_) => Some(unauthorized(&self.registry.base_url)),
        }
    }
}

/// Whether a body requests an anonymous access token. Unknown members are ignored.
fn check(body: &[u8]) -> Result<(), RegistrationError> {
    let members: Map<String, Value> =
        serde_json::from_slice(body).map_err(|_| RegistrationError::NotAnObject)?;
    let word = |name: &str| members.get(name).and_then(Value::as_str);
    let (identity, credential) = (word("type"), word("requested_credential_type"));
    if members.contains_key(ASSERTION) {
        return Err(RegistrationError::IdentityAssertion);
    }
    match (identity, credential) {
        (Some(IDENTITY_ASSERTION), _) => Err(RegistrationError::IdentityAssertion),
        (Some(ANONYMOUS), Some(ACCESS_TOKEN)) => Ok(()),
        (Some(ANONYMOUS), Some(_)) => Err(RegistrationError::CredentialType),
        (Some(ANONYMOUS), None) => Err(RegistrationError::InvalidFields(InvalidFields::Credential)),
        (_, Some(ACCESS_TOKEN)) => Err(RegistrationError::InvalidFields(InvalidFields::Type)),
        (_, _) => Err(RegistrationError::InvalidFields(InvalidFields::Both)),
    }
}

/// A response that must not be cached.
fn uncached(body: impl Serialize) -> Response {
    let mut response = Json(body).into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[derive(Serialize)]
struct RegistrationBody {
    registration_id: String,
    registration_type: &'static str,
    credential_type: &'static str,
    credential: String,
    /// Always null: the token does not expire.
    credential_expires: (),
    scopes: [&'static str; 1],
}

#[derive(Serialize)]
struct RevocationBody {
    revoked: u32,
    message: &'static str,
}

#[cfg(test)]
mod tests;
