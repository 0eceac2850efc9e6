//! What a payer concludes from every answer of the door.

use adapters::http::Why;
use axum::http::{HeaderMap, HeaderValue};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;

use super::super::x402::challenge::encoded;
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
    let Fate::Taken(now) = Fate::of(Ok(answer(200, &body, &[header])), Rail::X402) else {
        panic!()
    };
    assert_eq!((now.order.as_str(), now.status.as_str()), ("9f2c", "submitted"));
    assert_eq!(now.settlement, Some(settled));
    let Fate::Taken(earlier) = Fate::of(Ok(answer(200, &body, &[])), Rail::X402) else { panic!() };
    assert_eq!(earlier.settlement, None);
}

/// The mistake that costs money: to call refused what may have moved.
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
        assert!(matches!(Fate::of(outcome, Rail::X402), Fate::Doubtful(_)), "{shown}");
    }
}

#[test]
fn what_certainly_moved_nothing_is_refused() {
    let refused = [
        error(400, "invalid_payment_identifier", "never"),
        answer(402, &json!({}), &[]),
        error(403, "seller_not_enabled", "never"),
        error(404, "seller_not_resolved", "never"),
        error(409, "price_conflict", "never"),
        error(409, "seller_address_changed", "new_payment"),
        error(410, "operation_expired", "never"),
    ];
    for answer in refused {
        let status = answer.status;
        assert!(matches!(Fate::of(Ok(answer), Rail::X402), Fate::Refused { .. }), "{status}");
    }
}

#[test]
fn a_new_payment_is_advised_only_where_the_service_asks_for_one() {
    let remedy = |answer| match Fate::of(Ok(answer), Rail::X402) {
        Fate::Refused { remedy, .. } => remedy,
        fate @ (Fate::Taken(_) | Fate::NotAllowed(_) | Fate::Doubtful(_)) => panic!("{fate:?}"),
    };
    let changed = error(409, "seller_address_changed", "new_payment");
    assert_eq!(remedy(changed), Remedy::NewPayment);
    // A bare 402 is x402's way to ask for another one.
    assert_eq!(remedy(answer(402, &json!({}), &[])), Remedy::NewPayment);
    for (status, code) in [(409, "price_conflict"), (403, "seller_not_enabled")] {
        assert_eq!(remedy(error(status, code, "never")), Remedy::Change, "{code}");
    }
    assert_eq!(remedy(answer(404, &json!({}), &[])), Remedy::Change);
}

#[test]
fn a_missing_allowance_is_told_with_its_reason() {
    let required = json!({ "x402Version": 2, "error": "permit2_allowance_required" });
    let header = ("payment-required", encoded(&required));
    let fate = Fate::of(Ok(answer(412, &json!({}), &[header])), Rail::X402);
    let expected = "status 412: permit2_allowance_required: Permit2 may not take the payer's \
                    USDC yet.";
    assert_eq!(fate, Fate::NotAllowed(expected.to_owned()));
    let header = ("payment-required", encoded(&required));
    let error = json!({ "code": "permit2_allowance_required", "message": "Allow it." });
    let fate = Fate::of(Ok(answer(412, &json!({ "error": error }), &[header])), Rail::X402);
    let expected = "status 412: permit2_allowance_required: Allow it.";
    assert_eq!(fate, Fate::NotAllowed(expected.to_owned()), "what has words gets no others");
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

fn receipt(reference: &str) -> (Value, (&'static str, String)) {
    let receipt = json!({ "status": "success", "method": "evm", "reference": reference });
    let value = URL_SAFE_NO_PAD.encode(receipt.to_string());
    (receipt, ("payment-receipt", value))
}

#[test]
fn a_payment_by_mpp_is_taken_with_its_receipt() {
    let body = json!({ "id": "9f2c", "status": "submitted" });
    let (receipt, header) = receipt("0x12");
    let Fate::Taken(now) = Fate::of(Ok(answer(200, &body, &[header])), Rail::Mpp) else { panic!() };
    assert_eq!(now.settlement, Some(receipt));
    let Fate::Taken(earlier) = Fate::of(Ok(answer(200, &body, &[])), Rail::Mpp) else { panic!() };
    assert_eq!(earlier.settlement, None);
}

/// The mistake that costs money, on the other rail.
#[test]
fn whatever_may_have_moved_money_by_mpp_is_in_doubt() {
    let problem =
        |code: &str| json!({ "type": format!("https://paymentauth.org/problems/{code}") });
    let doubtful = [
        Ok(error(502, "settlement_unconfirmed", "same")),
        Ok(error(503, "submission_unresolved", "same")),
        Ok(error(409, "reconciliation_conflict", "same")),
        Ok(answer(402, &json!({}), &[receipt("0x12").1])),
        // Used before, say the official merchants: for us, perhaps.
        Ok(answer(403, &problem("verification-failed"), &[])),
        Ok(answer(412, &json!({}), &[])),
        Ok(answer(500, &problem("internal-payment-error"), &[])),
        Err(Silence::Lost(Why::TimedOut)),
    ];
    for outcome in doubtful {
        let shown = format!("{outcome:?}");
        assert!(matches!(Fate::of(outcome, Rail::Mpp), Fate::Doubtful(_)), "{shown}");
    }
    let refused = [
        answer(402, &problem("payment-expired"), &[]),
        error(403, "seller_not_enabled", "never"),
        error(409, "payment_bound_elsewhere", "never"),
        error(410, "operation_expired", "never"),
    ];
    for answer in refused {
        let status = answer.status;
        assert!(matches!(Fate::of(Ok(answer), Rail::Mpp), Fate::Refused { .. }), "{status}");
    }
}

#[test]
fn a_problem_is_told_with_its_detail_and_nothing_twice() {
    let problem = json!({
        "detail": "The payer has not enough USDC.",
        "error": { "code": "payment_declined", "message": "Not paid." },
    });
    let expected = "status 402: payment_declined: Not paid.: The payer has not enough USDC.";
    assert_eq!(words(&answer(402, &problem, &[])), expected);
    let same = json!({ "detail": "Gone.", "error": { "code": "gone", "message": "Gone." } });
    assert_eq!(words(&answer(410, &same, &[])), "status 410: gone: Gone.");
}
