//! x402 over HTTP: the headers and bodies of the credential, the challenge and the receipt.

use std::sync::Arc;

use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use order::model::ids::OrderId;
use order::model::offer::Offer;
use order::model::payment::Settlement;
use order::outcome::{Fulfilment, Outcome, When};
use order::refusal::Refusal;
use order::status::Status;
use serde_json::{Value, json};

use super::challenge::{Challenge, EndpointDescription, challenge};
use super::tender::X402;
use super::{allowance, credential, receipt};
use crate::error_body::{bad_request_body, refusal_body};
use crate::http_binding::{
    AnswerContext, ClientKind, HEADER_CAPACITY, HttpAnswer, HttpBinding, PaymentHeaders,
};
use crate::refusal_table::{BadRequest, HttpError};

pub const PAYMENT_REQUIRED: HeaderName = HeaderName::from_static("payment-required");
pub const PAYMENT_RESPONSE: HeaderName = HeaderName::from_static("payment-response");

const UNPAID: &str = "Payment required";

impl HttpBinding for X402 {
    fn payment_headers(
        &self,
        headers: &HeaderMap,
        _body: &[u8],
    ) -> Result<PaymentHeaders, BadRequest> {
        let credential = credential::from_headers(headers)?;
        // An invalid identifier is rejected before the checkout.
        credential.as_ref().map(credential::identifier).transpose()?;
        // A client that sends a payment is a program, even if its headers are a browser's.
        let client = if credential.is_some() { ClientKind::Program } else { client(headers) };
        Ok(PaymentHeaders { credential, client })
    }

    fn answer(&self, result: &Result<Outcome, Refusal>, context: &AnswerContext<'_>) -> HttpAnswer {
        match result {
            Ok(Outcome::Due(offer)) => self.unpaid(offer, context.client),
            Ok(Outcome::Paid { order, settlement, fulfilment, paid }) => {
                settled(*order, settlement, *fulfilment, *paid)
            }
            Err(refusal) => self.refused(refusal),
        }
    }

    fn bad_request(&self, why: &BadRequest) -> HttpAnswer {
        json_answer(HttpError::from(why).status, &bad_request_body(why), NO_STORE)
    }
}

impl X402 {
    fn unpaid(&self, offer: &Offer, client: ClientKind) -> HttpAnswer {
        let Some(challenge) = self.cached_challenge(offer) else {
            return unavailable(offer);
        };
        let mut answer = match client {
            ClientKind::Browser => without_body(),
            ClientKind::Program => with_body(
                StatusCode::PAYMENT_REQUIRED,
                challenge.body.fill(&[&offer.order.to_string()]),
                NO_STORE,
            ),
        };
        answer.headers.insert(PAYMENT_REQUIRED, challenge.header.clone());
        answer
    }

    /// Adds the headers of x402 to three refusals. The status comes from the table.
    fn refused(&self, refusal: &Refusal) -> HttpAnswer {
        let status = HttpError::from(refusal).status;
        match refusal {
            Refusal::CredentialInvalid { offer, reason } => {
                let Some(challenge) = self.challenge(offer, reason) else {
                    return unavailable(offer);
                };
                let answer = json_answer(status, &json!({}), NO_STORE);
                with_header(answer, PAYMENT_REQUIRED, challenge.header)
            }
            Refusal::AllowanceRequired(offer) => {
                let Some(challenge) = self.challenge(offer, allowance::REQUIRED) else {
                    return unavailable(offer);
                };
                let mut body = refusal_body(refusal);
                body["error"]["allowance"] = challenge.allowance.into();
                let answer = json_answer(status, &body, NO_STORE);
                with_header(answer, PAYMENT_REQUIRED, challenge.header)
            }
            Refusal::PaymentDeclined { offer, reason } => {
                let answer = json_answer(status, &json!({}), NO_STORE);
                with_header(answer, PAYMENT_RESPONSE, receipt::declined(offer, reason))
            }
            Refusal::CardInvalid(_)
            | Refusal::IdentifierInvalid
            | Refusal::QuoteInvalid
            | Refusal::DifferentRequest
            | Refusal::PaymentIdentifierUsed(_)
            | Refusal::OperationLapsed(_)
            | Refusal::PaymentBoundElsewhere
            | Refusal::PaymentInPlay(_)
            | Refusal::PaymentUnconfirmed(_)
            | Refusal::InProgress(_)
            | Refusal::SubmissionUnresolved(_)
            | Refusal::SellerAddressChanged(_)
            | Refusal::PriceAboveCeiling(_)
            | Refusal::QuoteExpired(_)
            | Refusal::QuoteExceeded { .. }
            | Refusal::QuoteLimit(_)
            | Refusal::SellerNotEnabled
            | Refusal::SellerUnresolved
            | Refusal::NameServiceFailed
            | Refusal::ProviderUnreachable
            | Refusal::ProviderUnusable
            | Refusal::ProviderUnavailable
            | Refusal::PaymentUnavailable
            | Refusal::StoreBusy
            | Refusal::Internal
            | Refusal::AboutOrder(..) => without_headers(refusal),
        }
    }

    /// The challenge for a request without a credential.
    fn cached_challenge(&self, offer: &Offer) -> Option<Arc<Challenge>> {
        self.challenge_cache.challenge(offer, self.settler.as_ref(), self.endpoint(), UNPAID)
    }

    pub(super) fn challenge(&self, offer: &Offer, reason: &str) -> Option<Challenge> {
        challenge(offer, self.settler.as_ref(), self.endpoint(), reason)
    }

    fn endpoint(&self) -> EndpointDescription<'_> {
        EndpointDescription {
            resource: &self.resource,
            extensions: &self.extensions,
            mode: self.mode,
        }
    }
}

/// A browser is a client that accepts HTML and calls itself Mozilla. Other x402 servers look
/// for the same two words, in this spelling.
fn client(headers: &HeaderMap) -> ClientKind {
    let contains = |name: HeaderName, word: &str| {
        headers.get_all(name).iter().any(|value| value.to_str().is_ok_and(|it| it.contains(word)))
    };
    if contains(ACCEPT, "text/html") && contains(USER_AGENT, "Mozilla") {
        ClientKind::Browser
    } else {
        ClientKind::Program
    }
}

/// The receipt is sent only in the answer to the request that paid.
fn settled(
    order: OrderId,
    settlement: &Settlement,
    fulfilment: Fulfilment,
    paid: When,
) -> HttpAnswer {
    let status = match fulfilment {
        Fulfilment::Submitted => Status::Submitted,
        Fulfilment::NeedsReconciliation => Status::FulfillmentNeedsReconciliation,
    };
    let body = json!({ "id": order.to_string(), "status": status.word() });
    let answer = json_answer(StatusCode::OK, &body, PRIVATE);
    match paid {
        When::Now => with_header(answer, PAYMENT_RESPONSE, receipt::header(&settlement.receipt.0)),
        When::Earlier => answer,
    }
}

/// No network is supported now, so there is no challenge. A 402 without one cannot be paid.
fn unavailable(offer: &Offer) -> HttpAnswer {
    without_headers(&Refusal::PaymentUnavailable.about(offer.order))
}

/// The answer to a refusal for which x402 has no header.
fn without_headers(refusal: &Refusal) -> HttpAnswer {
    let HttpError { status, retry_after_seconds, .. } = HttpError::from(refusal);
    let answer = json_answer(status, &refusal_body(refusal), NO_STORE);
    match retry_after_seconds {
        Some(seconds) => with_header(answer, RETRY_AFTER, HeaderValue::from(seconds)),
        None => answer,
    }
}

const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const PRIVATE: HeaderValue = HeaderValue::from_static("private");

fn json_answer(status: StatusCode, body: &Value, cache_control: HeaderValue) -> HttpAnswer {
    with_body(status, body.to_string().into_bytes(), cache_control)
}

fn with_body(status: StatusCode, body: Vec<u8>, cache_control: HeaderValue) -> HttpAnswer {
    let json = HeaderValue::from_static("application/json");
    let mut headers = HeaderMap::with_capacity(HEADER_CAPACITY);
    headers.extend([(CONTENT_TYPE, json), (CACHE_CONTROL, cache_control)]);
    HttpAnswer { status, headers, body }
}

/// A challenge to which the caller adds an HTML page.
fn without_body() -> HttpAnswer {
    let headers = HeaderMap::from_iter([(CACHE_CONTROL, NO_STORE)]);
    HttpAnswer { status: StatusCode::PAYMENT_REQUIRED, headers, body: Vec::new() }
}

fn with_header(mut answer: HttpAnswer, name: HeaderName, value: HeaderValue) -> HttpAnswer {
    answer.headers.insert(name, value);
    answer
}

#[cfg(test)]
mod tests;
