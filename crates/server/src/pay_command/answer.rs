//! What the service's answer means for a payment: taken, void, not allowed yet, or in doubt.

use adapters::http::{Answer, Silence};
use serde_json::Value;

use super::challenge::decoded;
use super::report::plain;

/// What became of a payment that was sent.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fate {
    Taken(Taken),
    /// Nothing moved, and this payment is worth nothing any more.
    Void(String),
    /// Permit2 may not move the payer's USDC. Nothing moved, and the payment
    /// still holds.
    NotAllowed(String),
    /// It may still be taken, or was. Nothing else must be signed.
    Doubtful(String),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Taken {
    pub(super) order: String,
    pub(super) status: String,
    /// The content of `PAYMENT-RESPONSE`; absent where the money moved earlier.
    pub(super) settlement: Option<Value>,
}

impl Fate {
    pub(super) fn of(outcome: Result<Answer, Silence>) -> Self {
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
            200 => match taken(&answer) {
                Some(taken) => Self::Taken(taken),
                None => Self::Doubtful("the answer is good but cannot be read".to_owned()),
            },
            412 => Self::NotAllowed(words),
            // The contract: 402 is never said of money that moved or may move.
            402 if names_a_transaction(&answer) => Self::Doubtful(words),
            400 | 402 | 403 | 404 | 410 => Self::Void(words),
            409 if is_over(&answer) => Self::Void(words),
            _ => Self::Doubtful(words),
        }
    }
}

/// A paid answer, to a payment or to a card that was paid for earlier.
pub(super) fn taken(answer: &Answer) -> Option<Taken> {
    let body: Value = answer.body_as().filter(|_| answer.status == 200)?;
    let settlement = answer.header("payment-response").and_then(decoded);
    Some(Taken {
        order: plain(body["id"].as_str()?),
        status: plain(body["status"].as_str()?),
        settlement,
    })
}

/// Not every service keeps to that: a refusal with a transaction is one that
/// may still be mined.
fn names_a_transaction(answer: &Answer) -> bool {
    let response = answer.header("payment-response").and_then(decoded).unwrap_or_default();
    response["transaction"].as_str().is_some_and(|transaction| !transaction.is_empty())
}

/// A conflict that repetition will not solve and that moved nothing.
fn is_over(answer: &Answer) -> bool {
    let body: Value = answer.body_as().unwrap_or_default();
    matches!(body["error"]["retry"].as_str(), Some("never" | "new_payment"))
}

/// The status and everything that the service says about it.
pub(super) fn words(answer: &Answer) -> String {
    let body: Value = answer.body_as().unwrap_or_default();
    let error = &body["error"];
    let mut words = format!("status {}", answer.status);
    let required = answer.header("payment-required").and_then(decoded);
    let response = answer.header("payment-response").and_then(decoded);
    let told = [
        error["code"].as_str().map(plain),
        error["message"].as_str().map(plain),
        required.as_ref().and_then(|required| required["error"].as_str()).map(plain),
        response.as_ref().and_then(|response| response["errorReason"].as_str()).map(plain),
    ];
    for text in told.into_iter().flatten() {
        words.push_str(&format!(": {text}"));
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
mod tests {
    use adapters::http::Why;
    use axum::http::{HeaderMap, HeaderValue};
    use serde_json::json;

    use super::super::challenge::encoded;
    use super::*;

    fn answer(status: u16, body: &Value, headers: &[(&'static str, String)]) -> Answer {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, HeaderValue::from_str(value).unwrap());
        }
        Answer { status, headers: map, content_type: None, body: body.to_string().into_bytes() }
    }

    fn error(status: u16, code: &str, retry: &str) -> Answer {
        let message = "Words.";
        let error = json!({ "code": code, "message": message, "retry": retry });
        answer(status, &json!({ "error": error }), &[])
    }

    #[test]
    fn a_payment_is_taken_with_its_settlement_or_earlier_without() {
        let body = json!({ "id": "9f2c", "status": "submitted" });
        let settled = json!({ "success": true, "amount": "1452000" });
        let header = ("payment-response", encoded(&settled));
        let Fate::Taken(now) = Fate::of(Ok(answer(200, &body, &[header]))) else { panic!() };
        assert_eq!((now.order.as_str(), now.status.as_str()), ("9f2c", "submitted"));
        assert_eq!(now.settlement, Some(settled));
        let Fate::Taken(earlier) = Fate::of(Ok(answer(200, &body, &[]))) else { panic!() };
        assert_eq!(earlier.settlement, None);
    }

    /// The mistake that costs money: to call void what may have moved.
    #[test]
    fn whatever_may_have_moved_money_is_in_doubt() {
        let doubtful = [
            Ok(error(500, "internal_error", "same")),
            Ok(error(502, "settlement_unconfirmed", "same")),
            Ok(error(503, "submission_unresolved", "same")),
            Ok(error(409, "reconciliation_conflict", "same")),
            Ok(error(409, "order_state_conflict", "same")),
            Ok(answer(409, &json!({}), &[])),
            Ok(answer(200, &json!([]), &[])),
            Ok(answer(302, &json!({}), &[])),
            Ok(error(429, "rate_limited", "new_payment")),
            Err(Silence::Lost(Why::TimedOut)),
            Err(Silence::Lost(Why::Status(200))),
            Err(Silence::Refused(Why::Unconnected)),
        ];
        let pending = json!({ "success": false, "transaction": "0x12" });
        let pending = ("payment-response", encoded(&pending));
        let doubtful = doubtful.into_iter().chain([Ok(answer(402, &json!({}), &[pending]))]);
        for outcome in doubtful {
            let shown = format!("{outcome:?}");
            assert!(matches!(Fate::of(outcome), Fate::Doubtful(_)), "{shown}");
        }
    }

    #[test]
    fn what_certainly_moved_nothing_is_void() {
        let void = [
            error(400, "invalid_payment_identifier", "never"),
            answer(402, &json!({}), &[]),
            error(403, "seller_not_enabled", "never"),
            error(404, "seller_not_resolved", "never"),
            error(409, "price_conflict", "never"),
            error(409, "seller_address_changed", "new_payment"),
            error(410, "operation_expired", "never"),
        ];
        for answer in void {
            let status = answer.status;
            assert!(matches!(Fate::of(Ok(answer)), Fate::Void(_)), "{status}");
        }
    }

    #[test]
    fn a_missing_allowance_is_told_with_its_reason() {
        let required = json!({ "x402Version": 2, "error": "permit2_allowance_required" });
        let header = ("payment-required", encoded(&required));
        let fate = Fate::of(Ok(answer(412, &json!({}), &[header])));
        let expected = "status 412: permit2_allowance_required";
        assert_eq!(fate, Fate::NotAllowed(expected.to_owned()));
    }

    #[test]
    fn every_faulty_field_is_told() {
        let fields = json!([
            { "field": "message", "message": "is missing" },
            { "field": "recipient.country", "message": "has two letters" },
        ]);
        let words = words(&answer(400, &json!({ "error": { "fields": fields } }), &[]));
        assert!(words.contains("\n  message: is missing\n  recipient.country: has"), "{words}");
    }
}
