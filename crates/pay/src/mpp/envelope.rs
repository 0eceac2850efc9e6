//! MPP on paper: which headers carry the credential, the challenge and the receipt.

use std::sync::Arc;

use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use order::checkout::{Fulfilment, Outcome, When};
use order::model::ids::OrderId;
use order::model::offer::Offer;
use order::model::payment::Settlement;
use order::refusal::Refusal;
use order::status::Status;
use serde_json::{Value, json};

use super::challenge::{Challenge, Money, Press, Sold};
use super::problem::{Flaw, Problem};
use super::tender::Mpp;
use super::{headers, receipt};
use crate::envelope::{Context, Envelope, HEADERS, Muddle, Opened, Reader, Sealed, verdict};
use crate::fault;
use crate::x402::envelope::{PAYMENT_REQUIRED, PAYMENT_RESPONSE};

pub const PAYMENT_RECEIPT: HeaderName = HeaderName::from_static("payment-receipt");

impl Envelope for Mpp {
    fn open(&self, headers: &HeaderMap, body: &[u8]) -> Result<Opened, Muddle> {
        let credential = headers::take(headers, body)?;
        Ok(Opened { credential, reader: Reader::Program })
    }

    fn seal(&self, said: &Result<Outcome, Refusal>, context: &Context<'_>) -> Sealed {
        match said {
            Ok(Outcome::Due(offer)) => self.due(offer, context),
            Ok(Outcome::Paid { order, settlement, fulfilment, paid }) => {
                settled(*order, settlement, *fulfilment, *paid)
            }
            Err(refusal) => self.refused(refusal, context),
        }
    }

    fn turn_away(&self, muddle: &Muddle) -> Sealed {
        let problem = Problem::of(muddle.status, muddle.message);
        told(muddle.status, problem.with(&fault::muddled(muddle)))
    }
}

impl Mpp {
    fn due(&self, offer: &Offer, context: &Context<'_>) -> Sealed {
        let Some((money, challenge)) = self.challenge(offer, context) else {
            return unavailable(offer);
        };
        let body = money.body.fill(&[&offer.order.to_string(), &challenge.id]);
        let mut sealed = said(StatusCode::PAYMENT_REQUIRED, body, PROBLEM, NO_STORE);
        sealed.headers.insert(WWW_AUTHENTICATE, challenge.header);
        sealed.headers.insert(PAYMENT_REQUIRED, money.required.clone());
        sealed
    }

    /// Which refusals are dressed, and how. The status is the table's.
    fn refused(&self, refusal: &Refusal, context: &Context<'_>) -> Sealed {
        let status = verdict(refusal).status;
        match refusal {
            Refusal::CredentialInvalid { offer, reason }
            | Refusal::PaymentDeclined { offer, reason } => {
                let (flaw, reason) = Flaw::read(reason);
                let problem =
                    Problem::flawed(flaw, status, reason).about(offer.order).in_mode(self.mode);
                self.challenged(problem.with(&fault::body(refusal)), offer, reason, context)
            }
            // Used already. The official clients' merchants say so with this type too,
            // and without a challenge, so that nobody pays again.
            Refusal::PaymentBoundElsewhere => {
                let problem = Problem::flawed(Flaw::Unverified, status, verdict(refusal).message);
                told(status, problem.with(&fault::body(refusal)))
            }
            Refusal::CardInvalid(_)
            | Refusal::IdentifierInvalid
            | Refusal::SellerNameInvalid
            | Refusal::DifferentRequest(_)
            | Refusal::PaymentIdentifierUsed(_)
            | Refusal::OperationLapsed(_)
            | Refusal::AllowanceRequired(_)
            | Refusal::PaymentInPlay(_)
            | Refusal::PaymentUnconfirmed(_)
            | Refusal::InProgress(_)
            | Refusal::SubmissionUnresolved(_)
            | Refusal::SellerAddressChanged(_)
            | Refusal::PriceAboveCeiling(_)
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
            | Refusal::AboutOrder(..) => plainly_refused(refusal),
        }
    }

    /// Asks for payment again, with a fresh challenge for each protocol that is spoken here.
    fn challenged(
        &self,
        problem: Problem,
        offer: &Offer,
        reason: &str,
        context: &Context<'_>,
    ) -> Sealed {
        let Some((money, challenge)) = self.challenge(offer, context) else {
            return unavailable(offer);
        };
        let Challenge { id, header } = challenge;
        let mut sealed = told(StatusCode::PAYMENT_REQUIRED, problem.challenged(&id));
        sealed.headers.insert(WWW_AUTHENTICATE, header);
        let required = money.required_because(reason, &self.resource);
        put(&mut sealed, PAYMENT_REQUIRED, &required);
        sealed
    }

    /// None also if the seller has no address here.
    pub(super) fn challenge(
        &self,
        offer: &Offer,
        context: &Context<'_>,
    ) -> Option<(Arc<Money>, Challenge)> {
        let sold = Sold { realm: &self.realm, resource: &self.resource, mode: self.mode };
        let money = self.usual.money(offer, sold)?;
        let (facilitator, randomness) = (self.facilitator.as_ref(), self.randomness.as_ref());
        let press = Press { facilitator, realm: &self.realm, secrets: &self.secrets, randomness };
        let challenge = press.challenge(&money, context.body, context.now)?;
        Some((money, challenge))
    }
}

/// The receipt comes with the answer to the request that paid, and with every later answer
/// about an order that was paid by MPP: its bytes are those that were kept.
fn settled(order: OrderId, settlement: &Settlement, fulfilment: Fulfilment, paid: When) -> Sealed {
    let status = match fulfilment {
        Fulfilment::Submitted => Status::Submitted,
        Fulfilment::NeedsReconciliation => Status::FulfillmentNeedsReconciliation,
    };
    let body = json!({ "id": order.to_string(), "status": status.word() });
    let mut sealed = answer(StatusCode::OK, &body, JSON, PRIVATE);
    // An order that was paid in another way has no receipt of this one.
    let Some(headers) = receipt::headers(&settlement.receipt) else { return sealed };
    put(&mut sealed, PAYMENT_RECEIPT, headers.receipt);
    if let (When::Now, Some(response)) = (paid, headers.response) {
        put(&mut sealed, PAYMENT_RESPONSE, response);
    }
    sealed
}

/// Nobody carries money here now, so nobody can be asked for it. The one place where the
/// table's status is not the last word: 402 without a challenge would invite to nothing.
fn unavailable(offer: &Offer) -> Sealed {
    plainly_refused(&Refusal::PaymentUnavailable.about(offer.order))
}

fn plainly_refused(refusal: &Refusal) -> Sealed {
    let verdict = verdict(refusal);
    let problem = Problem::of(verdict.status, verdict.message);
    let mut sealed = told(verdict.status, problem.with(&fault::body(refusal)));
    if let Some(seconds) = fault::wait(refusal) {
        sealed.headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    sealed
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const PRIVATE: HeaderValue = HeaderValue::from_static("private");

fn told(status: StatusCode, problem: Problem) -> Sealed {
    answer(status, &problem.json(), PROBLEM, NO_STORE)
}

fn answer(status: StatusCode, body: &Value, kind: HeaderValue, keep: HeaderValue) -> Sealed {
    said(status, body.to_string().into_bytes(), kind, keep)
}

fn said(status: StatusCode, body: Vec<u8>, kind: HeaderValue, keep: HeaderValue) -> Sealed {
    let mut headers = HeaderMap::with_capacity(HEADERS);
    headers.extend([(CONTENT_TYPE, kind), (CACHE_CONTROL, keep)]);
    Sealed { status, headers, body }
}

fn put(sealed: &mut Sealed, name: HeaderName, value: &str) {
    // Everything that is put here is printable ASCII, so this always holds.
    if let Ok(value) = HeaderValue::try_from(value) {
        sealed.headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests;
