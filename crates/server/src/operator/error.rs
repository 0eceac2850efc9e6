//! Errors of the operator's interface as JSON.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use order::operator::rejection::ActionRejection;
use order::ports::StoreError;
use serde_json::{Value, json};

/// An error with its status and its machine-readable code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OperatorError {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl OperatorError {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into() }
    }

    /// The request is invalid: 400.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", message)
    }

    pub(crate) fn json(&self) -> Value {
        json!({ "error": { "code": self.code, "message": self.message } })
    }
}

impl IntoResponse for OperatorError {
    fn into_response(self) -> Response {
        respond(self.status, &self.json())
    }
}

/// A JSON response.
pub(crate) fn respond(status: StatusCode, body: &Value) -> Response {
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    (status, [kind], format!("{body}\n")).into_response()
}

impl From<ActionRejection> for OperatorError {
    fn from(rejection: ActionRejection) -> Self {
        let status = match &rejection {
            ActionRejection::Unknown => StatusCode::NOT_FOUND,
            ActionRejection::Changed
            | ActionRejection::NotPossible(_)
            | ActionRejection::TooEarly(_)
            | ActionRejection::NotOurCard
            | ActionRejection::NoRefund(_)
            | ActionRejection::TransactionUsed => StatusCode::CONFLICT,
            ActionRejection::ProviderSilent
            | ActionRejection::PaymentUnclear
            | ActionRejection::NodeSilent => StatusCode::BAD_GATEWAY,
            ActionRejection::StoreSilent
            | ActionRejection::Unreadable
            | ActionRejection::StoreBusy => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self::new(status, rejection.code(), rejection.to_string())
    }
}

impl From<StoreError> for OperatorError {
    fn from(error: StoreError) -> Self {
        let message = match error {
            StoreError::Corrupt => "The store has a row that cannot be read. The log names it.",
            StoreError::Lost | StoreError::Moved | StoreError::PaymentBound => {
                "The store did not answer. Try again later."
            }
        };
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "storage_busy", message)
    }
}
