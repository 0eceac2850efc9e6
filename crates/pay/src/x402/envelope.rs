//! x402 on paper: which headers carry the credential, the challenge and the receipt.

use std::sync::Arc;

use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use order::checkout::{Fulfilment, Outcome, When};
use order::model::ids::OrderId;
use order::model::offer::Offer;
use order::model::payment::Settlement;
use order::refusal::Refusal;
use order::status::Status;
use serde_json::{Value, json};

use super::challenge::{Challenge, Sold, challenge};
use super::tender::X402;
use super::{allowance, credential, receipt};
use crate::envelope::{
    Brought, Context, Envelope, HEADERS, Muddle, Opened, Reader, Sealed, verdict,
};
use crate::fault;

pub const PAYMENT_REQUIRED: HeaderName = HeaderName::from_static("payment-required");
pub const PAYMENT_RESPONSE: HeaderName = HeaderName::from_static("payment-response");

const UNPAID: &str = "Payment required";

impl Envelope for X402 {
    fn open(&self, headers: &HeaderMap, _body: &[u8]) -> Result<Opened, Muddle> {
        let credential = credential::take(headers)?;
        // One that does not read is refused before the desk is asked.
        credential.as_ref().map(credential::identifier).transpose()?;
        // A client that brings a payment is a program, whatever else it says.
        let reader = if credential.is_some() { Reader::Program } else { reader(headers) };
        Ok(Opened { credential, reader })
    }

    fn seal(&self, said: &Result<Outcome, Refusal>, context: &Context<'_>) -> Sealed {
        match said {
            Ok(Outcome::Due(offer)) => self.due(offer, context),
            Ok(Outcome::Paid { order, settlement, fulfilment, paid }) => {
                settled(*order, settlement, *fulfilment, *paid)
            }
            Err(refusal) => self.refused(refusal),
        }
    }

    fn turn_away(&self, muddle: &Muddle) -> Sealed {
        told(muddle.status, &fault::muddled(muddle), NO_STORE)
    }
}

impl X402 {
    fn due(&self, offer: &Offer, context: &Context<'_>) -> Sealed {
        let Some(challenge) = self.usual_challenge(offer) else {
            return unavailable(offer);
        };
        let mut sealed = match (context.reader, context.brought) {
            // The page is not ours to write.
            (Reader::Person, Brought::Nothing) => page(),
            (Reader::Program, _) | (Reader::Person, Brought::Credential) => said(
                StatusCode::PAYMENT_REQUIRED,
                challenge.body.fill(&[&offer.order.to_string()]),
                NO_STORE,
            ),
        };
        sealed.headers.insert(PAYMENT_REQUIRED, challenge.header.clone());
        sealed
    }

    /// Which refusals are dressed, and how. The status is the table's.
    fn refused(&self, refusal: &Refusal) -> Sealed {
        let status = verdict(refusal).status;
        match refusal {
            Refusal::CredentialInvalid { offer, reason } => {
                self.challenged(told(status, &json!({}), NO_STORE), offer, reason)
            }
            Refusal::AllowanceRequired(offer) => {
                let Some(challenge) = self.challenge(offer, allowance::REQUIRED) else {
                    return unavailable(offer);
                };
                let mut body = fault::body(refusal);
                body["error"]["allowance"] = challenge.allowance.into();
                let mut sealed = told(status, &body, NO_STORE);
                sealed.headers.insert(PAYMENT_REQUIRED, challenge.header);
                sealed
            }
            Refusal::PaymentDeclined { offer, reason } => {
                let mut sealed = told(status, &json!({}), NO_STORE);
                put(&mut sealed, PAYMENT_RESPONSE, receipt::declined(offer, reason));
                sealed
            }
            Refusal::CardInvalid(_)
            | Refusal::IdentifierInvalid
            | Refusal::SellerNameInvalid
            | Refusal::DifferentRequest(_)
            | Refusal::PaymentIdentifierUsed(_)
            | Refusal::OperationLapsed(_)
            | Refusal::PaymentBoundElsewhere
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

    fn challenged(&self, mut sealed: Sealed, offer: &Offer, reason: &str) -> Sealed {
        let Some(challenge) = self.challenge(offer, reason) else {
            return unavailable(offer);
        };
        sealed.headers.insert(PAYMENT_REQUIRED, challenge.header);
        sealed
    }

    fn usual_challenge(&self, offer: &Offer) -> Option<Arc<Challenge>> {
        self.usual.challenge(offer, self.facilitator.as_ref(), self.sold(), UNPAID)
    }

    pub(super) fn challenge(&self, offer: &Offer, reason: &str) -> Option<Challenge> {
        challenge(offer, self.facilitator.as_ref(), self.sold(), reason)
    }

    fn sold(&self) -> Sold<'_> {
        Sold { resource: &self.resource, extensions: &self.extensions, mode: self.mode }
    }
}

/// A page is for whoever both wants one and calls itself what browsers do:
/// the two words, in this spelling, are what other x402 servers look for.
fn reader(headers: &HeaderMap) -> Reader {
    let says = |name: HeaderName, word: &str| {
        headers.get_all(name).iter().any(|value| value.to_str().is_ok_and(|it| it.contains(word)))
    };
    if says(ACCEPT, "text/html") && says(USER_AGENT, "Mozilla") {
        Reader::Person
    } else {
        Reader::Program
    }
}

/// The receipt is sent with the answer to the request that paid, and only then.
fn settled(order: OrderId, settlement: &Settlement, fulfilment: Fulfilment, paid: When) -> Sealed {
    let status = match fulfilment {
        Fulfilment::Submitted => Status::Submitted,
        Fulfilment::NeedsReconciliation => Status::FulfillmentNeedsReconciliation,
    };
    let body = json!({ "id": order.to_string(), "status": status.word() });
    let mut sealed = told(StatusCode::OK, &body, PRIVATE);
    match paid {
        When::Now => {
            put(&mut sealed, PAYMENT_RESPONSE, receipt::header(&settlement.receipt.0));
        }
        When::Earlier => {}
    }
    sealed
}

/// Nobody carries promises now, so nobody can be asked for one. The one place
/// where the table's status is not the last word: 402 without terms to sign
/// would invite to nothing.
fn unavailable(offer: &Offer) -> Sealed {
    plainly_refused(&Refusal::PaymentUnavailable.about(offer.order))
}

fn plainly_refused(refusal: &Refusal) -> Sealed {
    let mut sealed = told(verdict(refusal).status, &fault::body(refusal), NO_STORE);
    if let Some(seconds) = fault::wait(refusal) {
        sealed.headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    sealed
}

const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const PRIVATE: HeaderValue = HeaderValue::from_static("private");

fn told(status: StatusCode, body: &Value, keep: HeaderValue) -> Sealed {
    said(status, body.to_string().into_bytes(), keep)
}

fn said(status: StatusCode, body: Vec<u8>, keep: HeaderValue) -> Sealed {
    let json = HeaderValue::from_static("application/json");
    let mut headers = HeaderMap::with_capacity(HEADERS);
    headers.extend([(CONTENT_TYPE, json), (CACHE_CONTROL, keep)]);
    Sealed { status, headers, body }
}

/// A challenge whose body somebody else writes.
fn page() -> Sealed {
    let headers = HeaderMap::from_iter([(CACHE_CONTROL, NO_STORE)]);
    Sealed { status: StatusCode::PAYMENT_REQUIRED, headers, body: Vec::new() }
}

fn put(sealed: &mut Sealed, name: HeaderName, base64: String) {
    // Every letter of base64 may stand in a header, so this always holds.
    if let Ok(value) = HeaderValue::try_from(base64) {
        sealed.headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests;
