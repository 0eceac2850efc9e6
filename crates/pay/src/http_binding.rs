//! The HTTP side of a payment protocol: the trait, and the types that both bindings share.

use http::{HeaderMap, StatusCode};
use order::model::ids::Timestamp;
use order::model::payment::Credential;
use order::outcome::Outcome;
use order::refusal::Refusal;
use order::tender::Tender;

use crate::refusal_table::BadRequest;

/// Maps a payment protocol to HTTP: which headers and bodies carry what.
pub trait HttpBinding: Tender {
    /// Takes the credential from the headers of a request, without checking it. A credential
    /// may be bound to the body that it was sent with.
    fn payment_headers(
        &self,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<PaymentHeaders, BadRequest>;

    /// Renders the result of a checkout. The HTML body of a challenge for a browser is added
    /// by the caller.
    fn answer(&self, result: &Result<Outcome, Refusal>, context: &AnswerContext<'_>) -> HttpAnswer;

    /// Renders the answer to a request that failed before the checkout.
    fn bad_request(&self, why: &BadRequest) -> HttpAnswer;
}

/// What the headers of a request contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentHeaders {
    pub credential: Option<Credential>,
    pub client: ClientKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientKind {
    Program,
    /// Sent no credential and is to get the HTML paywall.
    Browser,
}

/// What an answer depends on beside the result of the checkout.
#[derive(Clone, Copy, Debug)]
pub struct AnswerContext<'a> {
    pub client: ClientKind,
    /// The body of the request, byte for byte: a challenge may be bound to it.
    pub body: &'a [u8],
    pub now: Timestamp,
}

/// Enough for every header of an answer, including those that the endpoint adds, so that the
/// map need not grow.
pub(crate) const HEADER_CAPACITY: usize = 12;

/// An answer that is ready to send.
#[derive(Clone, Debug)]
pub struct HttpAnswer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}
