//! Errors of registration, each with what to do next.

use std::num::NonZeroU64;

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use serde::Serialize;

use crate::http::problem::RETRY_AFTER_SECONDS;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegistrationError {
    RateLimited {
        wait: NonZeroU64,
    },
    NotAnObject,
    InvalidFields(InvalidFields),
    IdentityAssertion,
    CredentialType,
    Disabled,
    RandomSourceFailed,
    ClaimNotRequired,
    /// A bearer token that this service did not sign.
    ForeignToken,
}

/// The missing or invalid members of a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InvalidFields {
    Type,
    Credential,
    Both,
}

/// The response to an invalid token.
pub fn unauthorized(base_url: &str) -> Response {
    let mut response = RegistrationError::ForeignToken.into_response();
    let challenge = format!(
        r#"Bearer error="invalid_token", resource_metadata="{base_url}/.well-known/oauth-protected-resource""#
    );
    // A URL that does not fit a header only drops the hint.
    let challenge = HeaderValue::try_from(challenge)
        .unwrap_or(HeaderValue::from_static(r#"Bearer error="invalid_token""#));
    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    response
}

impl RegistrationError {
    const fn status(self) -> StatusCode {
        match self {
            Self::NotAnObject
            | Self::InvalidFields(_)
            | Self::IdentityAssertion
            | Self::CredentialType
            | Self::Disabled => StatusCode::BAD_REQUEST,
            Self::ForeignToken => StatusCode::UNAUTHORIZED,
            Self::ClaimNotRequired => StatusCode::CONFLICT,
            Self::RateLimited { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::RandomSourceFailed => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    const fn code(self) -> &'static str {
        match self {
            Self::RateLimited { .. } => "rate_limited",
            Self::NotAnObject | Self::InvalidFields(_) => "invalid_request",
            Self::IdentityAssertion => "identity_assertion_not_enabled",
            Self::CredentialType => "unsupported_credential_type",
            Self::Disabled => "anonymous_not_enabled",
            Self::RandomSourceFailed => "temporarily_unavailable",
            Self::ClaimNotRequired => "claim_not_required",
            Self::ForeignToken => "invalid_token",
        }
    }

    /// Contains nothing that the caller sent.
    const fn message(self) -> &'static str {
        match self {
            Self::RateLimited { .. } => {
                "Too many registrations. Wait for the seconds in Retry-After, then retry. One \
                 registration is enough, and public endpoints need none."
            }
            Self::NotAnObject => {
                "The body must be a JSON object. Send \
                 {\"type\":\"anonymous\",\"requested_credential_type\":\"access_token\"}."
            }
            Self::InvalidFields(InvalidFields::Type) => "Set type to anonymous and retry.",
            Self::InvalidFields(InvalidFields::Credential) => {
                "Set requested_credential_type to access_token and retry."
            }
            Self::InvalidFields(InvalidFields::Both) => {
                "Set type to anonymous and requested_credential_type to access_token, and retry."
            }
            Self::IdentityAssertion => {
                "Identity assertions are not accepted. Do not send one: omit assertion, set type to \
                 anonymous and retry."
            }
            Self::CredentialType => {
                "Only access_token is issued. Set requested_credential_type to access_token \
                 and retry."
            }
            Self::Disabled => {
                "Registration is disabled. Stop and use the public endpoints without a token."
            }
            Self::RandomSourceFailed => {
                "Registration is temporarily unavailable. Wait for the seconds in Retry-After, then \
                 retry. Public endpoints need no token."
            }
            Self::ClaimNotRequired => {
                "Anonymous read-only access needs no claim. Continue with your token."
            }
            Self::ForeignToken => {
                "Invalid token. Discard it and register again, starting from \
                 /.well-known/oauth-protected-resource."
            }
        }
    }

    fn retry_after(self) -> Option<HeaderValue> {
        match self {
            Self::RateLimited { wait } => Some(HeaderValue::from(wait.get())),
            Self::RandomSourceFailed => Some(RETRY_AFTER_SECONDS),
            Self::NotAnObject
            | Self::InvalidFields(_)
            | Self::IdentityAssertion
            | Self::CredentialType
            | Self::Disabled
            | Self::ClaimNotRequired
            | Self::ForeignToken => None,
        }
    }
}

impl IntoResponse for RegistrationError {
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

/// Flat, unlike other errors, as clients of this protocol expect.
#[derive(Serialize)]
struct Body {
    error: &'static str,
    message: &'static str,
}
