//! What a response of the service means for a payment: accepted, refused, without an
//! allowance, or unknown.

use serde_json::Value;

use crate::io::{NoResponse, PayerResponse};
use crate::values::header_json::{decode_mpp, decode_x402};
use crate::values::rail::PaymentRail;
use crate::values::text::plain;
use crate::x402::reason;

/// The outcome of a payment that was sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PaymentReply {
    Accepted(AcceptedPayment),
    /// Nothing moved, and the service will not use this payment. It stays valid until its
    /// deadline.
    Refused {
        words: String,
        remedy: RefusalRemedy,
    },
    /// Permit2 may not move the payer's USDC. Nothing moved, and the payment
    /// still holds.
    NotAllowed(String),
    /// It may still be settled, or was. Nothing else must be signed.
    Unknown(String),
}

/// What helps after a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefusalRemedy {
    NewPayment,
    /// Something else must change first.
    Change,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AcceptedPayment {
    pub(crate) order: String,
    pub(crate) status: String,
    /// The content of `PAYMENT-RESPONSE` or `Payment-Receipt`; absent where the money
    /// moved earlier.
    pub(crate) settlement: Option<Value>,
}

impl PaymentReply {
    pub(crate) fn of(outcome: Result<PayerResponse, NoResponse>, rail: PaymentRail) -> Self {
        let response = match outcome {
            Ok(response) => response,
            Err(NoResponse::Refused(why)) => {
                return Self::Unknown(format!("it was not sent this time ({why})"));
            }
            Err(NoResponse::Lost(why)) => {
                return Self::Unknown(format!("the answer was lost ({why})"));
            }
        };
        let words = words(&response);
        match response.status {
            200 => match accepted(&response, rail) {
                Some(accepted) => Self::Accepted(accepted),
                None => Self::Unknown("the answer is good but cannot be read".to_owned()),
            },
            412 => match rail {
                PaymentRail::X402 => Self::NotAllowed(words),
                // There is no allowance to be had, so it means something that we do not know.
                PaymentRail::Mpp => Self::Unknown(words),
            },
            // The contract: 402 is never sent for money that moved or may move.
            402 if names_a_transaction(&response, rail) => Self::Unknown(words),
            403 if is_spent(&response) => Self::Unknown(words),
            400 | 402 | 403 | 404 | 410 => Self::Refused { words, remedy: remedy(&response) },
            409 if is_over(&response) => Self::Refused { words, remedy: remedy(&response) },
            _ => Self::Unknown(words),
        }
    }
}

/// A paid response, to a payment or to a card that was paid for earlier.
pub(crate) fn accepted(response: &PayerResponse, rail: PaymentRail) -> Option<AcceptedPayment> {
    if response.status != 200 {
        return None;
    }
    let body = response.json();
    Some(AcceptedPayment {
        order: plain(body["id"].as_str()?),
        status: plain(body["status"].as_str()?),
        settlement: settlement(response, rail),
    })
}

/// What the service says of money that moved.
fn settlement(response: &PayerResponse, rail: PaymentRail) -> Option<Value> {
    match rail {
        PaymentRail::X402 => payment_response(response),
        PaymentRail::Mpp => response.header("payment-receipt").and_then(decode_mpp),
    }
}

/// The content of x402's `PAYMENT-RESPONSE`.
fn payment_response(response: &PayerResponse) -> Option<Value> {
    response.header("payment-response").and_then(decode_x402)
}

/// Not every service keeps to that: a refusal with a transaction is one that
/// may still be mined.
fn names_a_transaction(response: &PayerResponse, rail: PaymentRail) -> bool {
    let settled = settlement(response, rail).unwrap_or_default();
    let member = match rail {
        PaymentRail::X402 => "transaction",
        PaymentRail::Mpp => "reference",
    };
    settled[member].as_str().is_some_and(|transaction| !transaction.is_empty())
}

/// How merchants of MPP say that a payment was used before: whether for us, they do not say.
fn is_spent(response: &PayerResponse) -> bool {
    let body = response.json();
    body["type"].as_str().is_some_and(|kind| kind.ends_with("/verification-failed"))
}

/// A conflict that repetition will not solve and that moved nothing.
fn is_over(response: &PayerResponse) -> bool {
    let body = response.json();
    matches!(body["error"]["retry"].as_str(), Some("never" | "new_payment"))
}

/// What the service says itself, or its status where it says nothing: 402 asks for payment.
fn remedy(response: &PayerResponse) -> RefusalRemedy {
    let body = response.json();
    match (body["error"]["retry"].as_str(), response.status) {
        (Some("new_payment"), _) | (None, 402) => RefusalRemedy::NewPayment,
        (Some(_) | None, _) => RefusalRemedy::Change,
    }
}

/// The status and everything that the service says about it.
pub(crate) fn words(response: &PayerResponse) -> String {
    let body = response.json();
    let error = &body["error"];
    let required = response.header("payment-required").and_then(decode_x402);
    let settled = payment_response(response);
    let messages = [error["code"].as_str(), error["message"].as_str(), body["detail"].as_str()];
    let messages = messages.into_iter().flatten().map(|text| (plain(text), plain(text)));
    let reasons = [
        required.as_ref().and_then(|required| required["error"].as_str()),
        settled.as_ref().and_then(|settled| settled["errorReason"].as_str()),
    ];
    let reasons = reasons.into_iter().flatten().map(plain);
    let reasons = reasons.map(|code| (reason::explain(&code), code));
    let mut words = format!("status {}", response.status);
    for (message, text) in messages.chain(reasons) {
        // The endpoints report some things in more than one place.
        if !words.contains(&text) {
            words.push_str(&format!(": {message}"));
        }
    }
    for fault in error["fields"].as_array().into_iter().flatten() {
        let text = |name: &str| plain(fault[name].as_str().unwrap_or("?"));
        words.push_str(&format!("\n  {}: {}", text("field"), text("message")));
    }
    if let Some(seconds) = response.header("retry-after") {
        words.push_str(&format!("\n  Try again after {} seconds.", plain(seconds)));
    }
    words
}

#[cfg(test)]
mod tests;
