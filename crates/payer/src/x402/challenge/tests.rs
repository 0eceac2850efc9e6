//! Offers that a payer signs, and those that it does not.

use serde_json::json;

use super::*;
use crate::values::header_json::encode_x402;

pub(crate) const CEILING: UsdcAmount = UsdcAmount::from_atomic(3_500_000);

pub(crate) const FACILITATOR: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
pub(crate) const PAYEE: &str = "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65";

fn offer(network: PaymentNetwork) -> Value {
    json!({
        "scheme": "upto",
        "network": network.caip2(),
        "amount": "3500000",
        "asset": network.usdc().to_string(),
        "payTo": PAYEE,
        "maxTimeoutSeconds": 600,
        "extra": {
            "name": "USD Coin", "version": "2", "assetTransferMethod": "permit2",
            "facilitatorAddress": FACILITATOR,
        },
    })
}

pub(crate) fn challenge(offers: &[Value]) -> PaymentRequired {
    let required = json!({
        "x402Version": 2,
        "error": "Payment required",
        "resource": { "url": "http://127.0.0.1:8402/api/x402/postcards" },
        "accepts": offers,
        "extensions": { "payment-identifier": { "info": { "required": false } } },
    });
    let body = json!({ "public_order_id": "9f2c1e7ab04d4d6c8a53f0e1d2b7c694" });
    PaymentRequired::read(&encode_x402(&required), &body).unwrap()
}

pub(crate) fn all() -> PaymentRequired {
    challenge(&PaymentNetwork::ALL.map(offer))
}

pub(crate) const LIMITS: SpendingLimits = SpendingLimits { most: CEILING, network: None };

#[test]
fn the_first_good_offer_is_taken_and_kept_as_it_came() {
    let terms = all().choose(&LIMITS).unwrap();
    assert_eq!((terms.network, terms.most, terms.seconds), (PaymentNetwork::Base, CEILING, 600));
    assert_eq!(terms.accepted, offer(PaymentNetwork::Base));
    assert_eq!(
        (terms.pay_to.to_string(), terms.facilitator.to_string()),
        (PAYEE.into(), FACILITATOR.into())
    );
    let polygon = SpendingLimits { network: Some(PaymentNetwork::Polygon), ..LIMITS };
    assert_eq!(all().choose(&polygon).unwrap().network, PaymentNetwork::Polygon);
}

#[test]
fn nothing_above_the_limit_is_signed() {
    let limits = SpendingLimits { most: UsdcAmount::from_atomic(3_499_999), ..LIMITS };
    let objections = all().choose(&limits).unwrap_err();
    assert_eq!(objections.len(), 3);
    assert!(objections[0].contains("3.50 USDC and allow 3.499999"), "{objections:?}");
}

/// One wrong member each, and a word of the objection.
#[test]
fn an_offer_with_one_wrong_member_is_not_signed() {
    let wrong = [
        ("/scheme", json!("exact"), "scheme"),
        ("/amount", json!("-1"), "amount"),
        ("/amount", json!("0x10"), "amount"),
        ("/amount", json!(3_500_000), "amount"),
        ("/asset", json!(PaymentNetwork::Polygon.usdc().to_string()), "asset"),
        ("/payTo", json!("0x0000000000000000000000000000000000000000"), "payTo"),
        ("/payTo", json!("alice.eth"), "payTo"),
        ("/maxTimeoutSeconds", json!(0), "maxTimeoutSeconds"),
        ("/maxTimeoutSeconds", json!(31_536_000), "maxTimeoutSeconds"),
        ("/maxTimeoutSeconds", json!("600"), "maxTimeoutSeconds"),
        ("/extra/facilitatorAddress", json!(null), "facilitatorAddress"),
        ("/extra/assetTransferMethod", json!("eip3009"), "Permit2"),
        ("/network", json!("eip155:1"), "network"),
    ];
    for (place, value, word) in wrong {
        let mut offer = offer(PaymentNetwork::Base);
        *offer.pointer_mut(place).unwrap() = value.clone();
        let objections = challenge(&[offer]).choose(&LIMITS).unwrap_err();
        assert_eq!(objections.len(), 1, "{place} {value}: {objections:?}");
        assert!(objections[0].contains(word), "{place} {value}: {objections:?}");
    }
    let mut named = offer(PaymentNetwork::Base);
    named["extra"]["spender"] = json!(PAYEE);
    let objections = challenge(&[named]).choose(&LIMITS).unwrap_err();
    assert!(objections[0].contains("x402 proxy"), "{objections:?}");
}

#[test]
fn all_objections_are_reported_together() {
    let mut offer = offer(PaymentNetwork::Base);
    offer["scheme"] = json!("exact");
    offer["amount"] = json!("3500001");
    offer["asset"] = json!(PAYEE);
    assert_eq!(challenge(&[offer]).choose(&LIMITS).unwrap_err().len(), 3);
    assert_eq!(challenge(&[]).choose(&LIMITS).unwrap_err().len(), 1);
}

#[test]
fn a_header_without_a_challenge_is_not_read() {
    for header in ["", "e30", "not base64!", "W10="] {
        assert_eq!(PaymentRequired::read(header, &Value::Null), None, "{header}");
    }
    let first_version =
        PaymentRequired::read(&encode_x402(&json!({ "x402Version": 1 })), &Value::Null);
    assert!(first_version.unwrap().choose(&LIMITS).is_err());
}
