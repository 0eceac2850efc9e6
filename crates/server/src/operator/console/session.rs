//! The operator who is logged in, as the listener adds it to each request.

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use minijinja::context;
use minijinja::value::Value;
use order::lifecycle::event::OperatorName;

/// A session of the console.
#[derive(Clone)]
pub(crate) struct ConsoleSession {
    pub(crate) operator: OperatorName,
    /// What every form of this session must repeat. Pages of other origins cannot read it.
    pub(crate) csrf: String,
}

impl ConsoleSession {
    pub(super) fn value(&self) -> Value {
        context! { operator => self.operator.as_str(), csrf => self.csrf }
    }
}

/// The Unix socket serves programs, which have no session.
impl<S: Sync> FromRequestParts<S> for ConsoleSession {
    type Rejection = (StatusCode, &'static str);

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let session = parts.extensions.get::<Self>().cloned();
        session.ok_or((StatusCode::FORBIDDEN, "Log in first. Programs use the JSON API.\n"))
    }
}
