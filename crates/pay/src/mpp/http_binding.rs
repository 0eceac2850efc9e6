//! MPP over HTTP: the headers and bodies of the credential, the challenge and the receipt.

use std::sync::Arc;

use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use order::model::ids::OrderId;
use order::model::offer::Offer;
use order::model::payment::Settlement;
use order::outcome::{Fulfilment, Outcome, When};
use order::refusal::Refusal;
use order::status::Status;
use serde_json::{Value, json};

use super::challenge::{Challenge, ChallengeIssuer, ChallengeTemplate, EndpointDescription};
use super::problem::{CredentialProblem, ProblemDocument};
use super::tender::Mpp;
use super::{headers, receipt};
use crate::error_body::{bad_request_body, refusal_body};
use crate::http_binding::{
    AnswerContext, ClientKind, HEADER_CAPACITY, HttpAnswer, HttpBinding, PaymentHeaders,
};
use crate::refusal_table::{BadRequest, HttpError};
use crate::x402::http_binding::{PAYMENT_REQUIRED, PAYMENT_RESPONSE};

pub const PAYMENT_RECEIPT: HeaderName = HeaderName::from_static("payment-receipt");

impl HttpBinding for Mpp {
    fn payment_headers(
        &self,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<PaymentHeaders, BadRequest> {
        let credential = headers::credential(headers, body)?;
        Ok(PaymentHeaders { credential, client: ClientKind::Program })
    }

    fn answer(&self, result: &Result<Outcome, Refusal>, context: &AnswerContext<'_>) -> HttpAnswer {
        match result {
            Ok(Outcome::Due(offer)) => self.unpaid(offer, context),
            Ok(Outcome::Paid { order, settlement, fulfilment, paid }) => {
                settled(*order, settlement, *fulfilment, *paid)
            }
            Err(refusal) => self.refused(refusal, context),
        }
    }

    fn bad_request(&self, why: &BadRequest) -> HttpAnswer {
        let HttpError { status, message, .. } = HttpError::from(why);
        let problem = ProblemDocument::for_status(status, message);
        problem_answer(status, problem.with_error(&bad_request_body(why)))
    }
}

impl Mpp {
    fn unpaid(&self, offer: &Offer, context: &AnswerContext<'_>) -> HttpAnswer {
        let Some((template, challenge)) = self.challenge(offer, context) else {
            return unavailable(offer);
        };
        let body = template.body.fill(&[&offer.order.to_string(), &challenge.id]);
        let mut answer = with_body(StatusCode::PAYMENT_REQUIRED, body, PROBLEM, NO_STORE);
        answer.headers.insert(WWW_AUTHENTICATE, challenge.header);
        answer.headers.insert(PAYMENT_REQUIRED, template.payment_required.clone());
        answer
    }

    /// Adds a challenge or a problem type of MPP to three refusals. The status comes from the
    /// table.
    fn refused(&self, refusal: &Refusal, context: &AnswerContext<'_>) -> HttpAnswer {
        let HttpError { status, message, .. } = HttpError::from(refusal);
        match refusal {
            Refusal::CredentialInvalid { offer, reason }
            | Refusal::PaymentDeclined { offer, reason } => {
                let Some((template, challenge)) = self.challenge(offer, context) else {
                    return unavailable(offer);
                };
                let (problem, reason) = CredentialProblem::split(reason);
                let document = ProblemDocument::credential(problem, status, reason)
                    .about(offer.order)
                    .in_mode(self.mode)
                    .with_challenge(&challenge.id)
                    .with_error(&refusal_body(refusal));
                let mut answer = problem_answer(status, document);
                answer.headers.insert(WWW_AUTHENTICATE, challenge.header);
                let required = template.payment_required_because(reason, &self.resource);
                answer.headers.insert(PAYMENT_REQUIRED, required);
                answer
            }
            // The credential was used. Like the merchants of the official clients, this answer
            // has the type of a failed verification and no challenge, so that the payer does
            // not pay again.
            Refusal::PaymentBoundElsewhere => {
                let problem = CredentialProblem::VerificationFailed;
                let document = ProblemDocument::credential(problem, status, message);
                problem_answer(status, document.with_error(&refusal_body(refusal)))
            }
            Refusal::CardInvalid(_)
            | Refusal::IdentifierInvalid
            | Refusal::QuoteInvalid
            | Refusal::DifferentRequest
            | Refusal::PaymentIdentifierUsed(_)
            | Refusal::OperationLapsed(_)
            | Refusal::AllowanceRequired(_)
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
            | Refusal::AboutOrder(..) => without_challenge(refusal),
        }
    }

    /// A new challenge; `None` if payments are not supported now, or the seller has no address
    /// on the network.
    pub(super) fn challenge(
        &self,
        offer: &Offer,
        context: &AnswerContext<'_>,
    ) -> Option<(Arc<ChallengeTemplate>, Challenge)> {
        let endpoint =
            EndpointDescription { realm: &self.realm, resource: &self.resource, mode: self.mode };
        let template = self.challenge_cache.template(offer, endpoint)?;
        let (facilitator, randomness) = (self.facilitator.as_ref(), self.randomness.as_ref());
        let issuer =
            ChallengeIssuer { facilitator, realm: &self.realm, secrets: &self.secrets, randomness };
        let challenge = issuer.challenge(&template, context.body, context.now)?;
        Some((template, challenge))
    }
}

/// The receipt is sent in the answer to the request that paid, and in every later answer about
/// an order that was paid by MPP, with the stored bytes.
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
    let mut answer = json_answer(StatusCode::OK, &body, JSON, PRIVATE);
    // An order that was paid by x402 has no receipt of MPP.
    let Some(headers) = receipt::headers(&settlement.receipt) else { return answer };
    answer.headers.insert(PAYMENT_RECEIPT, headers.receipt);
    if let (When::Now, Some(response)) = (paid, headers.response) {
        answer.headers.insert(PAYMENT_RESPONSE, response);
    }
    answer
}

/// Payments are not supported now, so there is no challenge. A 402 without one cannot be paid.
fn unavailable(offer: &Offer) -> HttpAnswer {
    without_challenge(&Refusal::PaymentUnavailable.about(offer.order))
}

fn without_challenge(refusal: &Refusal) -> HttpAnswer {
    let HttpError { status, message, retry_after_seconds, .. } = HttpError::from(refusal);
    let document = ProblemDocument::for_status(status, message);
    let mut answer = problem_answer(status, document.with_error(&refusal_body(refusal)));
    if let Some(seconds) = retry_after_seconds {
        answer.headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    answer
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const PRIVATE: HeaderValue = HeaderValue::from_static("private");

fn problem_answer(status: StatusCode, document: ProblemDocument) -> HttpAnswer {
    json_answer(status, &document.json(), PROBLEM, NO_STORE)
}

fn json_answer(
    status: StatusCode,
    body: &Value,
    content_type: HeaderValue,
    cache_control: HeaderValue,
) -> HttpAnswer {
    with_body(status, body.to_string().into_bytes(), content_type, cache_control)
}

fn with_body(
    status: StatusCode,
    body: Vec<u8>,
    content_type: HeaderValue,
    cache_control: HeaderValue,
) -> HttpAnswer {
    let mut headers = HeaderMap::with_capacity(HEADER_CAPACITY);
    headers.extend([(CONTENT_TYPE, content_type), (CACHE_CONTROL, cache_control)]);
    HttpAnswer { status, headers, body }
}

#[cfg(test)]
mod tests;
