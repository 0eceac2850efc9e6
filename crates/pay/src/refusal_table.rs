//! The table that maps every refusal to an HTTP status, an error code and retry advice.
//!
//! An HTTP binding adds headers and the format of the body, never another status. A challenge
//! that cannot be made is answered as [`Refusal::PaymentUnavailable`].

use http::StatusCode;
use order::model::ids::OrderId;
use order::refusal::Refusal;

use self::RetryAdvice::{Never, NewPayment, Same};

/// A refusal in terms of HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpError {
    pub status: StatusCode,
    pub code: &'static str,
    pub retry: RetryAdvice,
    /// The value of `Retry-After`, if waiting can help.
    pub retry_after_seconds: Option<u64>,
    /// Never repeats what the caller sent.
    pub message: &'static str,
    /// The order that the caller may know about.
    pub order: Option<OrderId>,
}

/// What a caller may do after an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryAdvice {
    /// Send the same request again, later.
    Same,
    /// The same request will fail again.
    Never,
    /// No money moved: sign a new payment.
    NewPayment,
}

impl RetryAdvice {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Never => "never",
            Self::NewPayment => "new_payment",
        }
    }
}

/// Why a request is rejected before the checkout sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadRequest {
    /// The two headers of x402 carry different credentials.
    DifferentCredentials,
    /// More than one credential of MPP.
    SeveralCredentials,
    /// The identifier inside an x402 credential.
    PaymentIdentifierInvalid,
    MalformedJson,
}

struct Row {
    status: StatusCode,
    code: &'static str,
    retry: RetryAdvice,
    retry_after_seconds: Option<u64>,
    message: &'static str,
}

/// The order or the storage is busy.
const SOON: Option<u64> = Some(2);
/// A node or provider that does not answer is rarely back sooner.
const AFTER_OUTAGE: Option<u64> = Some(5);
/// As long as the longest rate limit of a provider, the pause after its refusals, and the window in which
/// a payer's unpaid quotes are counted.
const AFTER_A_MINUTE: Option<u64> = Some(60);

const CARD_INVALID: Row = row(
    StatusCode::BAD_REQUEST,
    ("invalid_postcard", Never, None),
    "The postcard has faulty fields; each is named below.",
);
const IDENTIFIER_INVALID: Row = row(
    StatusCode::BAD_REQUEST,
    ("invalid_payment_identifier", Never, None),
    "An operation identifier has 16 to 128 letters, digits, _ or -. If the header and the body \
     both have one, they must be the same.",
);
const QUOTE_INVALID: Row = row(
    StatusCode::BAD_REQUEST,
    ("invalid_quote", Never, None),
    "This quote is not one of ours, or is for another postcard. Nothing moved; request a preview of \
     this postcard, or leave the quote out.",
);

// 402 invites to pay. It is only for refusals after which certainly no money moved.
const CREDENTIAL_INVALID: Row = row(
    StatusCode::PAYMENT_REQUIRED,
    ("payment_invalid", NewPayment, None),
    "The payment does not fit the challenge. Nothing moved.",
);
const PAYMENT_DECLINED: Row = row(
    StatusCode::PAYMENT_REQUIRED,
    ("settlement_failed", NewPayment, None),
    "The payment did not go through. Nothing moved.",
);

const SELLER_NOT_ENABLED: Row = row(
    StatusCode::FORBIDDEN,
    ("seller_not_enabled", Never, None),
    "We do not mail cards for this seller.",
);
const SELLER_UNRESOLVED: Row = row(
    StatusCode::NOT_FOUND,
    ("seller_not_resolved", Never, None),
    "The seller's name does not resolve to an address that can be paid.",
);

const DIFFERENT_REQUEST: Row = row(
    StatusCode::CONFLICT,
    ("idempotency_conflict", Never, None),
    "This identifier was used for another postcard, perhaps by another caller. Use a random one.",
);
const PAYMENT_IDENTIFIER_USED: Row = row(
    StatusCode::CONFLICT,
    ("payment_identifier_conflict", Never, None),
    "The payment's identifier was used for another postcard. Sign a payment with a new \
     identifier.",
);
const PAYMENT_BOUND_ELSEWHERE: Row = row(
    StatusCode::CONFLICT,
    ("payment_bound_elsewhere", Never, None),
    "This payment belongs to another order. Nothing moved for this card; request its challenge \
     and sign a new payment.",
);
const PAYMENT_IN_PLAY: Row = row(
    StatusCode::CONFLICT,
    ("reconciliation_conflict", Same, SOON),
    "A payment for this order is in doubt. Do not pay again; look at the order.",
);
const IN_PROGRESS: Row = row(
    StatusCode::CONFLICT,
    ("order_state_conflict", Same, SOON),
    "The same request is being processed. Look at the order.",
);
const SELLER_ADDRESS_CHANGED: Row = row(
    StatusCode::CONFLICT,
    ("seller_address_changed", NewPayment, None),
    "The seller's payout address has changed. Nothing moved; request a new challenge.",
);
const PRICE_ABOVE_CEILING: Row = row(
    StatusCode::CONFLICT,
    ("price_conflict", Never, None),
    "This card costs more than 3.50 USDC. Nothing moved.",
);
const QUOTE_EXCEEDED: Row = row(
    StatusCode::CONFLICT,
    ("price_conflict", Never, None),
    "This card costs more than was quoted. Nothing moved; to accept the new price, send the \
     request with the id of error.quote.",
);
const QUOTE_EXPIRED: Row = row(
    StatusCode::CONFLICT,
    ("quote_expired", Never, None),
    "This quote has expired. Nothing moved; request a preview for a new one, or leave the quote \
     out.",
);
const OPERATION_LAPSED: Row = row(
    StatusCode::GONE,
    ("operation_expired", Never, None),
    "This identifier has expired; use a new one.",
);
// Waits for the payer, not for time. Once the allowance is given, the same credential pays.
const ALLOWANCE_REQUIRED: Row = row(
    StatusCode::PRECONDITION_FAILED,
    ("permit2_allowance_required", Same, None),
    "Permit2 has no allowance for your USDC; error.allowance has the missing call for each \
     network. Make it, or sign the permit that replaces it, then send the same request again.",
);

const NAME_SERVICE_FAILED: Row = row(
    StatusCode::INTERNAL_SERVER_ERROR,
    ("internal_error", Same, SOON),
    "Seller names cannot be resolved at the moment.",
);
const INTERNAL: Row =
    row(StatusCode::INTERNAL_SERVER_ERROR, ("internal_error", Same, SOON), "Internal error.");

const PAYMENT_UNCONFIRMED: Row = row(
    StatusCode::BAD_GATEWAY,
    ("settlement_unconfirmed", Same, SOON),
    "The settlement is not confirmed yet. Do not sign again; send the same request.",
);
const PROVIDER_UNREACHABLE: Row = row(
    StatusCode::BAD_GATEWAY,
    ("provider_unreachable", Same, AFTER_OUTAGE),
    "The postcard provider does not answer. Nothing moved.",
);
const PROVIDER_UNUSABLE: Row = row(
    StatusCode::BAD_GATEWAY,
    ("provider_invalid_response", Same, AFTER_OUTAGE),
    "The postcard provider's response is invalid. Nothing moved.",
);

const SUBMISSION_UNRESOLVED: Row = row(
    StatusCode::SERVICE_UNAVAILABLE,
    ("submission_unresolved", Same, AFTER_A_MINUTE),
    "Paid. Mailing status is being confirmed.",
);
const QUOTE_LIMIT: Row = row(
    StatusCode::SERVICE_UNAVAILABLE,
    ("rate_limited", Same, AFTER_A_MINUTE),
    "This payer has requested too many quotes without paying. Nothing moved; send the same \
     request again in a minute.",
);
const PROVIDER_UNAVAILABLE: Row = row(
    StatusCode::SERVICE_UNAVAILABLE,
    ("provider_unavailable", Same, AFTER_A_MINUTE),
    "The postcard provider is not available at the moment. Nothing moved; send the same request \
     again later.",
);
const PAYMENT_UNAVAILABLE: Row = row(
    StatusCode::SERVICE_UNAVAILABLE,
    ("payment_unavailable", Same, AFTER_OUTAGE),
    "Payments cannot be checked at the moment. This request moved nothing; send the same request, \
     with the same payment if it had one, again in a few seconds.",
);
const STORE_BUSY: Row = row(
    StatusCode::SERVICE_UNAVAILABLE,
    ("storage_busy", Same, SOON),
    "Storage is busy. Send the same request again.",
);

const DIFFERENT_CREDENTIALS: Row = row(
    StatusCode::BAD_REQUEST,
    ("payment_ambiguous", Never, None),
    "PAYMENT-SIGNATURE and X-Payment carry different payments. Send one of them.",
);
const SEVERAL_CREDENTIALS: Row = row(
    StatusCode::BAD_REQUEST,
    ("payment_ambiguous", Never, None),
    "This request has more than one payment. Send one, in one of Authorization, \
     Payment-Authorization and Payment-Signature.",
);
// The contract has one code for both identifiers; the message says which.
const PAYMENT_IDENTIFIER_INVALID: Row = row(
    StatusCode::BAD_REQUEST,
    ("invalid_payment_identifier", Never, None),
    "The id of the payment-identifier extension has 16 to 128 letters, digits, _ or -. Correct \
     it, or leave it out.",
);
// The API contract answers a malformed body with 500.
const MALFORMED_JSON: Row = row(
    StatusCode::INTERNAL_SERVER_ERROR,
    ("malformed_json", Never, None),
    "The body is not valid JSON. Nothing was sent or charged.",
);

const fn row(
    status: StatusCode,
    (code, retry, retry_after_seconds): (&'static str, RetryAdvice, Option<u64>),
    message: &'static str,
) -> Row {
    Row { status, code, retry, retry_after_seconds, message }
}

impl HttpError {
    fn new(row: &Row, order: Option<OrderId>) -> Self {
        let Row { status, code, retry, retry_after_seconds, message } = *row;
        Self { status, code, retry, retry_after_seconds, message, order }
    }
}

impl From<&BadRequest> for HttpError {
    fn from(why: &BadRequest) -> Self {
        let row = match why {
            BadRequest::DifferentCredentials => &DIFFERENT_CREDENTIALS,
            BadRequest::SeveralCredentials => &SEVERAL_CREDENTIALS,
            BadRequest::PaymentIdentifierInvalid => &PAYMENT_IDENTIFIER_INVALID,
            BadRequest::MalformedJson => &MALFORMED_JSON,
        };
        Self::new(row, None)
    }
}

impl From<&Refusal> for HttpError {
    fn from(refusal: &Refusal) -> Self {
        match refusal {
            Refusal::CardInvalid(_) => Self::new(&CARD_INVALID, None),
            Refusal::IdentifierInvalid => Self::new(&IDENTIFIER_INVALID, None),
            Refusal::QuoteInvalid => Self::new(&QUOTE_INVALID, None),
            // The other order may be another caller's, who chose the same identifier.
            // mutant: foreign-order-named
            Refusal::DifferentRequest => Self::new(&DIFFERENT_REQUEST, None),
            Refusal::PaymentIdentifierUsed(id) => Self::new(&PAYMENT_IDENTIFIER_USED, Some(*id)),
            Refusal::OperationLapsed(id) => Self::new(&OPERATION_LAPSED, Some(*id)),
            Refusal::CredentialInvalid { offer, .. } => {
                Self::new(&CREDENTIAL_INVALID, Some(offer.order))
            }
            Refusal::AllowanceRequired(offer) => Self::new(&ALLOWANCE_REQUIRED, Some(offer.order)),
            Refusal::PaymentDeclined { offer, .. } => {
                Self::new(&PAYMENT_DECLINED, Some(offer.order))
            }
            Refusal::PaymentBoundElsewhere => Self::new(&PAYMENT_BOUND_ELSEWHERE, None),
            Refusal::PaymentInPlay(id) => Self::new(&PAYMENT_IN_PLAY, Some(*id)),
            Refusal::PaymentUnconfirmed(id) => Self::new(&PAYMENT_UNCONFIRMED, Some(*id)),
            Refusal::InProgress(id) => Self::new(&IN_PROGRESS, Some(*id)),
            Refusal::SubmissionUnresolved(id) => Self::new(&SUBMISSION_UNRESOLVED, Some(*id)),
            Refusal::SellerAddressChanged(id) => Self::new(&SELLER_ADDRESS_CHANGED, Some(*id)),
            Refusal::PriceAboveCeiling(id) => Self::new(&PRICE_ABOVE_CEILING, Some(*id)),
            Refusal::QuoteExpired(id) => Self::new(&QUOTE_EXPIRED, Some(*id)),
            Refusal::QuoteExceeded { order, .. } => Self::new(&QUOTE_EXCEEDED, Some(*order)),
            Refusal::QuoteLimit(id) => Self::new(&QUOTE_LIMIT, Some(*id)),
            Refusal::SellerNotEnabled => Self::new(&SELLER_NOT_ENABLED, None),
            Refusal::SellerUnresolved => Self::new(&SELLER_UNRESOLVED, None),
            Refusal::NameServiceFailed => Self::new(&NAME_SERVICE_FAILED, None),
            Refusal::ProviderUnreachable => Self::new(&PROVIDER_UNREACHABLE, None),
            Refusal::ProviderUnusable => Self::new(&PROVIDER_UNUSABLE, None),
            Refusal::ProviderUnavailable => Self::new(&PROVIDER_UNAVAILABLE, None),
            Refusal::PaymentUnavailable => Self::new(&PAYMENT_UNAVAILABLE, None),
            Refusal::StoreBusy => Self::new(&STORE_BUSY, None),
            Refusal::Internal => Self::new(&INTERNAL, None),
            Refusal::AboutOrder(id, cause) => {
                Self { order: Some(*id), ..Self::from(cause.as_ref()) }
            }
        }
    }
}

#[cfg(test)]
mod tests;
