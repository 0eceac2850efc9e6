//! Every way in which registration says no, each with what to do next.

use std::num::NonZeroU64;

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use serde::Serialize;

use crate::problem::RETRY_AFTER_SECONDS;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    RateLimited {
        wait: NonZeroU64,
    },
    NotAnObject,
    Fields(Fields),
    IdentityAssertion,
    CredentialType,
    SwitchedOff,
    NoRandomness,
    NothingToClaim,
    /// A bearer token that we did not sign.
    ForeignToken,
}

/// Which members of a registration are missing or wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fields {
    Type,
    Credential,
    Both,
}

/// The answer to a token that is not ours, on a route that looks at tokens.
pub fn unauthorized(base_url: &str) -> Response {
    let mut response = Refusal::ForeignToken.into_response();
    let challenge = format!(
        r#"Bearer error="invalid_token", resource_metadata="{base_url}/.well-known/oauth-protected-resource""#
    );
    // An address that no header can carry costs the hint, not the answer.
    let challenge = HeaderValue::try_from(challenge)
        .unwrap_or(HeaderValue::from_static(r#"Bearer error="invalid_token""#));
    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    response
}

impl Refusal {
    const fn status(self) -> StatusCode {
        match self {
            Self::NotAnObject
            | Self::Fields(_)
            | Self::IdentityAssertion
            | Self::CredentialType
            | Self::SwitchedOff => StatusCode::BAD_REQUEST,
            Self::ForeignToken => StatusCode::UNAUTHORIZED,
            Self::NothingToClaim => StatusCode::CONFLICT,
            Self::RateLimited { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::NoRandomness => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    const fn code(self) -> &'static str {
        match self {
            Self::RateLimited { .. } => "rate_limited",
            Self::NotAnObject | Self::Fields(_) => "invalid_request",
            Self::IdentityAssertion => "identity_assertion_not_enabled",
            Self::CredentialType => "unsupported_credential_type",
            Self::SwitchedOff => "anonymous_not_enabled",
            Self::NoRandomness => "temporarily_unavailable",
            Self::NothingToClaim => "claim_not_required",
            Self::ForeignToken => "invalid_token",
        }
    }

    /// Holds nothing that the caller sent.
    const fn message(self) -> &'static str {
        match self {
            Self::RateLimited { .. } => {
                "Too many registrations at the moment. Wait as many seconds as Retry-After says, \
                 then retry. One registration is enough, and public endpoints need none."
            }
            Self::NotAnObject => {
                "The body must be a JSON object. Send \
                 {\"type\":\"anonymous\",\"requested_credential_type\":\"access_token\"}."
            }
            Self::Fields(Fields::Type) => "Set type to anonymous and retry.",
            Self::Fields(Fields::Credential) => {
                "Set requested_credential_type to access_token and retry."
            }
            Self::Fields(Fields::Both) => {
                "Set type to anonymous and requested_credential_type to access_token, and retry."
            }
            Self::IdentityAssertion => {
                "Identity assertions are not accepted here. Do not send one: leave out assertion, \
                 set type to anonymous and retry."
            }
            Self::CredentialType => {
                "Only access_token is issued here. Set requested_credential_type to access_token \
                 and retry."
            }
            Self::SwitchedOff => {
                "Registration is switched off. Stop here and use the public endpoints without a \
                 token."
            }
            Self::NoRandomness => {
                "No registration can be made at the moment. Wait as many seconds as Retry-After \
                 says, then retry. Public endpoints need no token."
            }
            Self::NothingToClaim => {
                "Anonymous read-only access needs no claim. Go on with the token that you have."
            }
            Self::ForeignToken => {
                "This token is not valid here. Discard it and register again, starting from \
                 /.well-known/oauth-protected-resource."
            }
        }
    }

    fn retry_after(self) -> Option<HeaderValue> {
        match self {
            Self::RateLimited { wait } => Some(HeaderValue::from(wait.get())),
            Self::NoRandomness => Some(RETRY_AFTER_SECONDS),
            Self::NotAnObject
            | Self::Fields(_)
            | Self::IdentityAssertion
            | Self::CredentialType
            | Self::SwitchedOff
            | Self::NothingToClaim
            | Self::ForeignToken => None,
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = Body { error: self.code(), message: self.message() };
        let mut response = (self.status(), Json(body)).into_response();
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(wait) = self.retry_after() {
            headers.insert(RETRY_AFTER, wait);
        }
        response
    }
}

/// Flat, unlike the errors of other doors: it is what clients of this protocol read.
#[derive(Serialize)]
struct Body {
    error: &'static str,
    message: &'static str,
}
