//! What the service's answer means for a payment: taken, refused, not allowed yet, or in doubt.

use adapters::http::{Answer, Silence};
use serde_json::Value;

use super::report::plain;
use super::values::Rail;
use super::{mpp, x402};

/// What became of a payment that was sent.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fate {
    Taken(Taken),
    /// Nothing moved, and the service will not use this payment. Whoever holds it could
    /// until it runs out.
    Refused {
        words: String,
        remedy: Remedy,
    },
    /// Permit2 may not move the payer's USDC. Nothing moved, and the payment
    /// still holds.
    NotAllowed(String),
    /// It may still be taken, or was. Nothing else must be signed.
    Doubtful(String),
}

/// What helps after a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    NewPayment,
    /// Something else must change first.
    Change,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Taken {
    pub(super) order: String,
    pub(super) status: String,
    /// The content of `PAYMENT-RESPONSE` or `Payment-Receipt`; absent where the money
    /// moved earlier.
    pub(super) settlement: Option<Value>,
}

impl Fate {
    pub(super) fn of(outcome: Result<Answer, Silence>, rail: Rail) -> Self {
        let answer = match outcome {
            Ok(answer) => answer,
            Err(Silence::Refused(why)) => {
                return Self::Doubtful(format!("it was not sent this time ({why})"));
            }
            Err(Silence::Lost(why)) => {
                return Self::Doubtful(format!("the answer was lost ({why})"));
            }
        };
        let words = words(&answer);
        match answer.status {
            200 => match taken(&answer, rail) {
                Some(taken) => Self::Taken(taken),
                None => Self::Doubtful("the answer is good but cannot be read".to_owned()),
            },
            412 => match rail {
                Rail::X402 => Self::NotAllowed(words),
                // There is no allowance to be had, so it means something that we do not know.
                Rail::Mpp => Self::Doubtful(words),
            },
            // The contract: 402 is never said of money that moved or may move.
            402 if names_a_transaction(&answer, rail) => Self::Doubtful(words),
            403 if is_spent(&answer) => Self::Doubtful(words),
            400 | 402 | 403 | 404 | 410 => Self::Refused { words, remedy: remedy(&answer) },
            409 if is_over(&answer) => Self::Refused { words, remedy: remedy(&answer) },
            _ => Self::Doubtful(words),
        }
    }
}

/// A paid answer, to a payment or to a card that was paid for earlier.
pub(super) fn taken(answer: &Answer, rail: Rail) -> Option<Taken> {
    let body: Value = answer.body_as().filter(|_| answer.status == 200)?;
    Some(Taken {
        order: plain(body["id"].as_str()?),
        status: plain(body["status"].as_str()?),
        settlement: settlement(answer, rail),
    })
}

/// What the service says of money that moved.
fn settlement(answer: &Answer, rail: Rail) -> Option<Value> {
    match rail {
        Rail::X402 => response(answer),
        Rail::Mpp => answer.header("payment-receipt").and_then(mpp::challenge::decoded),
    }
}

/// The content of x402's `PAYMENT-RESPONSE`.
fn response(answer: &Answer) -> Option<Value> {
    answer.header("payment-response").and_then(x402::challenge::decoded)
}

/// Not every service keeps to that: a refusal with a transaction is one that
/// may still be mined.
fn names_a_transaction(answer: &Answer, rail: Rail) -> bool {
    let told = settlement(answer, rail).unwrap_or_default();
    let member = match rail {
        Rail::X402 => "transaction",
        Rail::Mpp => "reference",
    };
    told[member].as_str().is_some_and(|transaction| !transaction.is_empty())
}

/// How merchants of MPP say that a payment was used before: whether for us, they do not say.
fn is_spent(answer: &Answer) -> bool {
    let body: Value = answer.body_as().unwrap_or_default();
    body["type"].as_str().is_some_and(|kind| kind.ends_with("/verification-failed"))
}

/// A conflict that repetition will not solve and that moved nothing.
fn is_over(answer: &Answer) -> bool {
    let body: Value = answer.body_as().unwrap_or_default();
    matches!(body["error"]["retry"].as_str(), Some("never" | "new_payment"))
}

/// What the service says itself, or its status where it says nothing: 402 asks for payment.
fn remedy(answer: &Answer) -> Remedy {
    let body: Value = answer.body_as().unwrap_or_default();
    match (body["error"]["retry"].as_str(), answer.status) {
        (Some("new_payment"), _) | (None, 402) => Remedy::NewPayment,
        (Some(_) | None, _) => Remedy::Change,
    }
}

/// The status and everything that the service says about it.
pub(super) fn words(answer: &Answer) -> String {
    let body: Value = answer.body_as().unwrap_or_default();
    let error = &body["error"];
    let required = answer.header("payment-required").and_then(x402::challenge::decoded);
    let response = response(answer);
    let said = [error["code"].as_str(), error["message"].as_str(), body["detail"].as_str()];
    let said = said.into_iter().flatten().map(|text| (plain(text), plain(text)));
    let reasons = [
        required.as_ref().and_then(|required| required["error"].as_str()),
        response.as_ref().and_then(|response| response["errorReason"].as_str()),
    ];
    let reasons = reasons.into_iter().flatten().map(plain);
    let reasons = reasons.map(|code| (x402::reason::told(&code), code));
    let mut words = format!("status {}", answer.status);
    for (told, text) in said.chain(reasons) {
        // The doors say some things in more than one place.
        if !words.contains(&text) {
            words.push_str(&format!(": {told}"));
        }
    }
    for fault in error["fields"].as_array().into_iter().flatten() {
        let text = |name: &str| plain(fault[name].as_str().unwrap_or("?"));
        words.push_str(&format!("\n  {}: {}", text("field"), text("message")));
    }
    if let Some(seconds) = answer.header("retry-after") {
        words.push_str(&format!("\n  Try again after {} seconds.", plain(seconds)));
    }
    words
}

#[cfg(test)]
mod tests;
