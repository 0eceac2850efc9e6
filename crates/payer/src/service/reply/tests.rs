//! What a payer concludes from every response of the service.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderValue};
use serde_json::json;

use super::*;
use crate::values::header_json::encode_x402;

fn answer(status: u16, body: &Value, headers: &[(&'static str, String)]) -> PayerResponse {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.insert(*name, HeaderValue::from_str(value).unwrap());
    }
    PayerResponse { status, headers: map, body: body.to_string().into_bytes() }
}

fn error(status: u16, code: &str, retry: &str) -> PayerResponse {
    let message = "Words.";
    let error = json!({ "code": code, "message": message, "retry": retry });
    answer(status, &json!({ "error": error }), &[])
}

#[test]
fn a_payment_is_taken_with_its_settlement_or_earlier_without() {
    let body = json!({ "id": "9f2c", "status": "submitted" });
    let settled = json!({ "success": true, "amount": "1452000" });
    let header = ("payment-response", encode_x402(&settled));
    let PaymentReply::Accepted(now) =
        PaymentReply::of(Ok(answer(200, &body, &[header])), PaymentRail::X402)
    else {
        panic!()
    };
    assert_eq!((now.order.as_str(), now.status.as_str()), ("9f2c", "submitted"));
    assert_eq!(now.settlement, Some(settled));
    let PaymentReply::Accepted(earlier) =
        PaymentReply::of(Ok(answer(200, &body, &[])), PaymentRail::X402)
    else {
        panic!()
    };
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
        Err(NoResponse::Lost("TimedOut".to_owned())),
        Err(NoResponse::Lost("Status".to_owned())),
        Err(NoResponse::Refused("Unconnected".to_owned())),
    ];
    let pending = json!({ "success": false, "transaction": "0x12" });
    let pending = ("payment-response", encode_x402(&pending));
    let doubtful = doubtful.into_iter().chain([Ok(answer(402, &json!({}), &[pending]))]);
    for outcome in doubtful {
        let shown = format!("{outcome:?}");
        assert!(
            matches!(PaymentReply::of(outcome, PaymentRail::X402), PaymentReply::Unknown(_)),
            "{shown}"
        );
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
        assert!(
            matches!(PaymentReply::of(Ok(answer), PaymentRail::X402), PaymentReply::Refused { .. }),
            "{status}"
        );
    }
}

#[test]
fn a_new_payment_is_advised_only_where_the_service_asks_for_one() {
    let remedy = |answer| match PaymentReply::of(Ok(answer), PaymentRail::X402) {
        PaymentReply::Refused { remedy, .. } => remedy,
        fate @ (PaymentReply::Accepted(_)
        | PaymentReply::NotAllowed(_)
        | PaymentReply::Unknown(_)) => panic!("{fate:?}"),
    };
    let changed = error(409, "seller_address_changed", "new_payment");
    assert_eq!(remedy(changed), RefusalRemedy::NewPayment);
    // A bare 402 is x402's way to ask for another one.
    assert_eq!(remedy(answer(402, &json!({}), &[])), RefusalRemedy::NewPayment);
    for (status, code) in [(409, "price_conflict"), (403, "seller_not_enabled")] {
        assert_eq!(remedy(error(status, code, "never")), RefusalRemedy::Change, "{code}");
    }
    assert_eq!(remedy(answer(404, &json!({}), &[])), RefusalRemedy::Change);
}

#[test]
fn a_missing_allowance_is_reported_with_its_reason() {
    let required = json!({ "x402Version": 2, "error": "permit2_allowance_required" });
    let header = ("payment-required", encode_x402(&required));
    let fate = PaymentReply::of(Ok(answer(412, &json!({}), &[header])), PaymentRail::X402);
    let expected = "status 412: permit2_allowance_required: Permit2 may not take the payer's \
                    USDC yet.";
    assert_eq!(fate, PaymentReply::NotAllowed(expected.to_owned()));
    let header = ("payment-required", encode_x402(&required));
    let error = json!({ "code": "permit2_allowance_required", "message": "Allow it." });
    let fate =
        PaymentReply::of(Ok(answer(412, &json!({ "error": error }), &[header])), PaymentRail::X402);
    let expected = "status 412: permit2_allowance_required: Allow it.";
    assert_eq!(
        fate,
        PaymentReply::NotAllowed(expected.to_owned()),
        "what has words gets no others"
    );
}

#[test]
fn every_invalid_field_is_reported() {
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
    let PaymentReply::Accepted(now) =
        PaymentReply::of(Ok(answer(200, &body, &[header])), PaymentRail::Mpp)
    else {
        panic!()
    };
    assert_eq!(now.settlement, Some(receipt));
    let PaymentReply::Accepted(earlier) =
        PaymentReply::of(Ok(answer(200, &body, &[])), PaymentRail::Mpp)
    else {
        panic!()
    };
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
        Err(NoResponse::Lost("TimedOut".to_owned())),
    ];
    for outcome in doubtful {
        let shown = format!("{outcome:?}");
        assert!(
            matches!(PaymentReply::of(outcome, PaymentRail::Mpp), PaymentReply::Unknown(_)),
            "{shown}"
        );
    }
    let refused = [
        answer(402, &problem("payment-expired"), &[]),
        error(403, "seller_not_enabled", "never"),
        error(409, "payment_bound_elsewhere", "never"),
        error(410, "operation_expired", "never"),
    ];
    for answer in refused {
        let status = answer.status;
        assert!(
            matches!(PaymentReply::of(Ok(answer), PaymentRail::Mpp), PaymentReply::Refused { .. }),
            "{status}"
        );
    }
}

#[test]
fn a_problem_is_reported_with_its_detail_and_nothing_twice() {
    let problem = json!({
        "detail": "The payer has not enough USDC.",
        "error": { "code": "payment_declined", "message": "Not paid." },
    });
    let expected = "status 402: payment_declined: Not paid.: The payer has not enough USDC.";
    assert_eq!(words(&answer(402, &problem, &[])), expected);
    let same = json!({ "detail": "Gone.", "error": { "code": "gone", "message": "Gone." } });
    assert_eq!(words(&answer(410, &same, &[])), "status 410: gone: Gone.");
}
