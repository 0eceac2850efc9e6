//! One answer after another, and what each proves.

use reqwest::header::HeaderMap;
use serde_json::Value;

use super::super::reply::{SettleReply, settled, verified};
use super::*;
use crate::http::CallErrorKind;

const HASH: &str = "0xc2f00f93aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa712A";

fn answer(status: u16, body: impl ToString) -> Result<HttpResponse, CallError> {
    let (headers, content_type) = (HeaderMap::new(), None);
    Ok(HttpResponse { status, headers, content_type, body: body.to_string().into_bytes() })
}

fn good() -> Value {
    json!({
        "success": true,
        "payer": PAYER,
        "transaction": HASH,
        "network": "eip155:8453",
        "amount": "2117500",
    })
}

/// A good answer with one field changed, or taken away.
fn with(field: &str, value: Option<Value>) -> Value {
    let mut body = good();
    match value {
        Some(value) => body[field] = value,
        None => drop(body.as_object_mut().unwrap().remove(field)),
    }
    body
}

fn no(reason: &str, transaction: &str) -> Value {
    json!({
        "success": false,
        "errorReason": reason,
        "payer": PAYER,
        "transaction": transaction,
        "network": "eip155:8453",
    })
}

fn sort(answer: Result<HttpResponse, CallError>) -> SettleReply {
    settled(answer, &authorization(), CHARGE)
}

fn is_lost(reply: SettleReply) -> bool {
    matches!(reply, SettleReply::Lost(_))
}

#[test]
fn a_success_is_one_only_if_every_part_of_it_is_what_was_asked() {
    let moved = SettleReply::Moved(HASH.to_ascii_lowercase());
    assert_eq!(sort(answer(200, good())), moved);
    // What is left out or null about the payer says nothing, in any case of letters.
    for payer in [None, Some(Value::Null), Some(json!("")), Some(json!(PAYER.to_lowercase()))] {
        assert_eq!(sort(answer(200, with("payer", payer))), moved);
    }
    for (field, value) in [
        ("amount", None),
        ("amount", Some(Value::Null)),
        ("amount", Some(json!("2117501"))),
        ("amount", Some(json!("3500000"))),
        ("amount", Some(json!("0"))),
        ("amount", Some(json!(2_117_500))),
        ("amount", Some(json!("02117500"))),
        ("network", None),
        ("network", Some(json!("eip155:137"))),
        ("network", Some(json!(""))),
        ("transaction", None),
        ("transaction", Some(json!(""))),
        ("transaction", Some(json!("0x12"))),
        ("transaction", Some(json!(HASH.replace('c', "g")))),
        ("payer", Some(json!(FACILITATOR))),
        ("errorReason", Some(json!("settlement_pending"))),
        ("success", None),
        ("success", Some(json!("true"))),
        ("success", Some(json!(1))),
    ] {
        let body = with(field, value);
        assert!(is_lost(sort(answer(200, &body))), "{body}");
    }
    for status in [300, 400, 402, 500, 503] {
        assert!(is_lost(sort(answer(status, good()))), "{status}");
    }
}

#[test]
fn what_was_sent_and_not_confirmed_is_pending_with_any_status() {
    for status in [200, 500] {
        assert_eq!(sort(answer(status, no("settlement_pending", HASH))), SettleReply::Pending);
        assert!(is_lost(sort(answer(status, no("settlement_pending", "")))));
        assert!(is_lost(sort(answer(status, no("settlement_pending", "soon")))));
    }
}

#[test]
fn only_what_is_found_by_reading_the_request_is_refused() {
    for reason in [
        "unsupported_payload_type",
        "invalid_permit2_spender",
        "invalid_upto_evm_payload_settlement_exceeds_amount",
    ] {
        for status in [200, 400, 500] {
            assert_eq!(
                sort(answer(status, no(reason, ""))),
                SettleReply::Refused(reason.to_owned())
            );
        }
        assert!(is_lost(sort(answer(200, no(reason, HASH)))), "sent after all: {reason}");
    }
    // A settlement that was lost before causes every one of these.
    for reason in [
        "permit2_simulation_failed",
        "permit2_insufficient_balance",
        "permit2_allowance_required",
        "permit2_invalid_nonce",
        "permit2_deadline_expired",
        "invalid_permit2_signature",
        "invalid_upto_evm_transaction_failed",
        "invalid_exact_evm_transaction_failed: nonce too low",
        "upto_facilitator_mismatch",
        "unexpected_settle_error",
        "an unknown name",
        "",
    ] {
        assert!(is_lost(sort(answer(200, no(reason, "")))), "{reason}");
        assert!(is_lost(sort(answer(400, no(reason, HASH)))), "{reason}");
    }
}

#[test]
fn no_response_is_lost_unless_the_connection_failed() {
    for body in ["", "{", "null", "[]", "<html>no</html>", "{}", "{\"error\":\"no\"}"] {
        for status in [200, 400, 401, 404, 429, 500, 502] {
            assert!(is_lost(sort(answer(status, body))), "{status} {body}");
        }
    }
    for why in [
        CallErrorKind::TimedOut,
        CallErrorKind::Broken,
        CallErrorKind::TooLarge,
        CallErrorKind::Encoded,
        CallErrorKind::Status(500),
    ] {
        assert!(is_lost(sort(Err(CallError::Lost(why)))), "{why}");
    }
    let unreached = sort(Err(CallError::Refused(CallErrorKind::Unconnected)));
    assert_eq!(unreached, SettleReply::NotReached("refused: no connection".to_owned()));
}

#[test]
fn words_of_the_facilitator_are_cut_short_and_made_plain() {
    let words = format!("bad\r\nset-cookie: \u{202e}{}", "x".repeat(5_000));
    let SettleReply::Lost(kept) = sort(answer(200, no(&words, ""))) else { panic!("lost") };
    assert!(kept.len() < 200 && kept.chars().all(|letter| matches!(letter, ' '..='~')), "{kept}");
    let body = json!({ "isValid": false, "invalidReason": words });
    let Err(Rejection::Invalid(kept)) = verified(answer(200, body), &authorization()) else {
        panic!("invalid")
    };
    assert!(kept.len() <= 120 && kept.starts_with("bad??set-cookie: ?x"), "{kept}");
}

#[test]
fn a_verification_is_good_bad_or_not_to_be_had() {
    let check = |status, body: Value| verified(answer(status, body), &authorization());
    assert_eq!(check(200, json!({ "isValid": true })), Ok(()));
    assert_eq!(
        check(200, json!({ "isValid": true, "payer": PAYER, "invalidReason": null })),
        Ok(())
    );
    let no = |reason: &str| json!({ "isValid": false, "invalidReason": reason, "payer": PAYER });
    for status in [200, 400, 412, 500] {
        let invalid = Err(Rejection::Invalid("permit2_insufficient_balance".to_owned()));
        assert_eq!(check(status, no("permit2_insufficient_balance")), invalid);
        let missing = Err(Rejection::AllowanceMissing);
        assert_eq!(check(status, no("permit2_allowance_required")), missing);
        // Its trouble is not the payer's.
        assert_eq!(check(status, no("unexpected_verify_error")), Err(Rejection::Unavailable));
    }
    for (status, body) in [
        (500, json!({ "isValid": true })),
        (200, json!({ "isValid": true, "payer": FACILITATOR })),
        (200, json!({ "isValid": true, "invalidReason": "permit2_token_mismatch" })),
        (200, json!({ "isValid": false })),
        (200, json!({ "isValid": "true" })),
        (200, json!({ "valid": true })),
        (429, json!({ "error": "slower" })),
        (200, json!([])),
    ] {
        assert_eq!(check(status, body.clone()), Err(Rejection::Unavailable), "{status} {body}");
    }
    let silent = verified(Err(CallError::Refused(CallErrorKind::Unconnected)), &authorization());
    assert_eq!(silent, Err(Rejection::Unavailable));
}
