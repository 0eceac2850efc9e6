//! Every word of the desk, in HTTP's.

use order::model::card::FieldFault;
use order::model::ids::Timestamp;
use order::model::money::CEILING;
use order::model::payment::{Finality, Receipt};

use super::super::facilitator::Service;
use super::super::samples::{
    BODY, NOW, ORDER, Porter, SELLER, TRANSACTION, decoded, mpp, offer, parameters,
};
use super::*;
use crate::envelope::Brought;
use crate::mpp::challenge::UNPAID;

const CONTEXT: Context<'static> =
    Context { reader: Reader::Program, brought: Brought::Nothing, body: BODY, now: NOW };
const CONTEXTS: [Context<'static>; 2] =
    [CONTEXT, Context { brought: Brought::Credential, ..CONTEXT }];

fn seal(said: Result<Outcome, Refusal>, context: &Context<'_>) -> Sealed {
    let (mpp, porter) = mpp(Porter::good());
    let sealed = mpp.seal(&said, context);
    assert!(porter.calls().is_empty(), "an answer asks nobody");
    sealed
}

fn names(sealed: &Sealed) -> Vec<&str> {
    let mut names: Vec<_> = sealed.headers.keys().map(HeaderName::as_str).collect();
    names.sort_unstable();
    names
}

fn body(sealed: &Sealed) -> Value {
    serde_json::from_slice(&sealed.body).unwrap()
}

fn text<'a>(sealed: &'a Sealed, name: &str) -> &'a str {
    sealed.headers[name].to_str().unwrap()
}

fn paid(receipt: &str, paid: When) -> Result<Outcome, Refusal> {
    let settlement = Settlement {
        transaction: TRANSACTION.into(),
        amount: CEILING,
        at: Timestamp(7),
        finality: Finality::Provisional,
        receipt: Receipt(receipt.as_bytes().to_vec()),
    };
    Ok(Outcome::Paid { order: ORDER, settlement, fulfilment: Fulfilment::Submitted, paid })
}

const CHALLENGED: [&str; 4] =
    ["cache-control", "content-type", "payment-required", "www-authenticate"];

#[test]
fn an_unpaid_order_is_challenged_in_both_protocols() {
    for context in &CONTEXTS {
        let sealed = seal(Ok(Outcome::Due(offer())), context);
        assert_eq!((sealed.status.as_u16(), names(&sealed)), (402, CHALLENGED.to_vec()));
        assert_eq!(text(&sealed, "cache-control"), "no-store");
        assert_eq!(text(&sealed, "content-type"), "application/problem+json");
        let challenge = parameters(text(&sealed, "www-authenticate"));
        assert_eq!(
            body(&sealed),
            json!({
                "type": "https://paymentauth.org/problems/payment-required",
                "title": "Payment Required",
                "status": 402,
                "detail": UNPAID,
                "challengeId": challenge["id"],
                "public_order_id": "a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7",
                "order_url": "/api/x402/orders/a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7",
                "mode": "live",
            })
        );
        let mut required = decoded(text(&sealed, "payment-required"));
        let told = required["extensions"].take();
        for shape in ["input", "output"] {
            let shape = &told["bazaar"]["schema"]["properties"][shape];
            assert!(shape.is_object(), "registries are told what goes in and comes out");
        }
        assert_eq!(
            required,
            json!({
                "x402Version": 2,
                "extensions": null,
                "error": "Payment required",
                "resource": {
                    "url": "https://cards.example/api/mpp/postcards",
                    "description": "One 4x6 physical postcard",
                    "mimeType": "application/json",
                    "serviceName": "Pennyblack",
                    "tags": ["postcard", "mail"],
                },
                "accepts": [{
                    "scheme": "exact",
                    "network": "eip155:8453",
                    "amount": "3500000",
                    "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
                    "payTo": SELLER.to_string(),
                    "maxTimeoutSeconds": 600,
                    "extra": { "name": "USD Coin", "version": "2" },
                }],
            })
        );
    }
}

#[test]
fn a_credential_that_does_not_hold_is_challenged_anew_with_the_reason() {
    for (told, code, title, detail) in [
        ("malformed-credential: No.", "malformed-credential", "Malformed Credential", "No."),
        ("invalid-challenge: No.", "invalid-challenge", "Invalid Challenge", "No."),
        ("payment-expired: No.", "payment-expired", "Payment Expired", "No."),
        ("verification-failed: No.", "verification-failed", "Verification Failed", "No."),
        ("used: or \"not\"", "verification-failed", "Verification Failed", "used: or 'not'"),
    ] {
        let reason = told.to_owned();
        for (refusal, word) in [
            (
                Refusal::CredentialInvalid { offer: offer(), reason: reason.clone() },
                "payment_invalid",
            ),
            (Refusal::PaymentDeclined { offer: offer(), reason }, "settlement_failed"),
        ] {
            let sealed = seal(Err(refusal), &CONTEXTS[1]);
            assert_eq!((sealed.status.as_u16(), names(&sealed)), (402, CHALLENGED.to_vec()));
            assert_eq!(text(&sealed, "cache-control"), "no-store");
            let (said, challenge) = (body(&sealed), parameters(text(&sealed, "www-authenticate")));
            let kind = format!("https://paymentauth.org/problems/{code}");
            assert_eq!((&said["type"], &said["title"]), (&json!(kind), &json!(title)));
            assert_eq!((&said["status"], &said["detail"]), (&json!(402), &json!(detail)));
            assert_eq!(said["challengeId"], challenge["id"]);
            assert_eq!(said["error"]["code"], word);
            assert_eq!(said["error"]["retry"], "new_payment");
            assert_eq!(decoded(text(&sealed, "payment-required"))["error"], detail);
        }
    }
}

#[test]
fn a_receipt_comes_with_the_payment_and_with_every_repeat() {
    let (plain, both) = ("eyJzdGF0dXMiOiJzdWNjZXNzIn0", "eyJzdGF0dXMiOiJzdWNjZXNzIn0\ne30=");
    let kept = ["cache-control", "content-type"];
    let receipt = ["cache-control", "content-type", "payment-receipt"];
    let two = ["cache-control", "content-type", "payment-receipt", "payment-response"];
    for (written, when, expected) in [
        (plain, When::Now, &receipt[..]),
        (plain, When::Earlier, &receipt),
        (both, When::Now, &two),
        (both, When::Earlier, &receipt),
        // What another way of paying kept is no receipt of this one.
        (r#"{"success":true}"#, When::Now, &kept),
        (r#"{"success":true}"#, When::Earlier, &kept),
        ("", When::Now, &kept),
    ] {
        for context in &CONTEXTS {
            let sealed = seal(paid(written, when), context);
            assert_eq!((sealed.status.as_u16(), names(&sealed)), (200, expected.to_vec()));
            assert_eq!(text(&sealed, "cache-control"), "private");
            assert_eq!(text(&sealed, "content-type"), "application/json");
            let expected = json!({ "id": ORDER.to_string(), "status": "submitted" });
            assert_eq!(body(&sealed), expected);
            if sealed.headers.contains_key(PAYMENT_RECEIPT) {
                assert_eq!(text(&sealed, "payment-receipt"), plain);
            }
        }
    }
}

#[test]
fn money_that_bought_no_card_yet_is_told_with_its_receipt() {
    let Ok(Outcome::Paid { order, settlement, paid, .. }) = paid("e30", When::Now) else {
        panic!("it is paid")
    };
    let fulfilment = Fulfilment::NeedsReconciliation;
    let sealed = seal(Ok(Outcome::Paid { order, settlement, fulfilment, paid }), &CONTEXT);
    assert_eq!(sealed.status, 200);
    assert_eq!(body(&sealed)["status"], "fulfillment_needs_reconciliation");
    assert_eq!(text(&sealed, "payment-receipt"), "e30");
}

/// Every other refusal, its status, its type, its code, and whether waiting may help.
fn plain_refusals() -> Vec<(Refusal, u16, &'static str, &'static str, Option<&'static str>)> {
    let faults = vec![FieldFault { field: "message", message: "This field is empty.".into() }];
    let (soon, never) = (Some("2"), None);
    let (bad, ours, none) = ("bad-request", "internal-payment-error", "about:blank");
    let used = "verification-failed";
    vec![
        (Refusal::CardInvalid(faults), 400, bad, "invalid_postcard", never),
        (Refusal::IdentifierInvalid, 400, bad, "invalid_payment_identifier", never),
        (Refusal::SellerNameInvalid, 400, bad, "invalid_postcard", never),
        (Refusal::SellerNotEnabled, 403, none, "seller_not_enabled", never),
        (Refusal::SellerUnresolved, 404, none, "seller_not_resolved", never),
        (Refusal::DifferentRequest(ORDER), 409, none, "idempotency_conflict", never),
        (Refusal::PaymentIdentifierUsed(ORDER), 409, none, "payment_identifier_conflict", never),
        (Refusal::PaymentBoundElsewhere, 409, used, "payment_bound_elsewhere", never),
        (Refusal::PaymentInPlay(ORDER), 409, none, "reconciliation_conflict", soon),
        (Refusal::InProgress(ORDER), 409, none, "order_state_conflict", soon),
        (Refusal::SellerAddressChanged(ORDER), 409, none, "seller_address_changed", never),
        (Refusal::PriceAboveCeiling(ORDER), 409, none, "price_conflict", never),
        (Refusal::OperationLapsed(ORDER), 410, none, "operation_expired", never),
        (Refusal::AllowanceRequired(offer()), 412, none, "permit2_allowance_required", never),
        (Refusal::NameServiceFailed, 500, ours, "internal_error", soon),
        (Refusal::Internal, 500, ours, "internal_error", soon),
        (Refusal::PaymentUnconfirmed(ORDER), 502, none, "settlement_unconfirmed", soon),
        (Refusal::ProviderUnreachable, 502, none, "provider_unreachable", Some("5")),
        (Refusal::ProviderUnusable, 502, none, "provider_invalid_response", Some("5")),
        (Refusal::SubmissionUnresolved(ORDER), 503, none, "submission_unresolved", Some("60")),
        (Refusal::QuoteLimit(ORDER), 503, none, "rate_limited", Some("60")),
        (Refusal::ProviderUnavailable, 503, none, "provider_unavailable", Some("60")),
        (Refusal::PaymentUnavailable, 503, none, "payment_unavailable", Some("5")),
        (Refusal::StoreBusy, 503, none, "storage_busy", soon),
    ]
}

#[test]
fn every_other_refusal_is_a_problem_that_invites_nobody_to_pay() {
    for (refusal, status, kind, code, wait) in plain_refusals() {
        for context in &CONTEXTS {
            let sealed = seal(Err(refusal.clone()), context);
            let mut expected = vec!["cache-control", "content-type"];
            expected.extend(wait.map(|_| "retry-after"));
            assert_eq!(names(&sealed), expected, "{refusal:?}");
            assert_eq!(text(&sealed, "cache-control"), "no-store");
            assert_eq!(text(&sealed, "content-type"), "application/problem+json");
            let said = body(&sealed);
            assert_eq!(sealed.status.as_u16(), status, "{refusal:?}");
            assert_eq!(said["status"], status, "{refusal:?}");
            let said_kind = said["type"].as_str().unwrap();
            let said_kind = said_kind.trim_start_matches("https://paymentauth.org/problems/");
            assert_eq!(said_kind, kind, "{refusal:?}");
            assert_ne!(said["title"], "");
            assert_eq!(said["detail"], verdict(&refusal).message);
            assert_eq!(said["error"], fault::body(&refusal)["error"], "{refusal:?}");
            assert_eq!(said["error"]["code"], code, "{refusal:?}");
        }
    }
}

#[test]
fn while_nobody_carries_money_nobody_is_invited() {
    let closed = || mpp(Porter { service: Service::NotOffered, ..Porter::good() }).0;
    let invalid = Refusal::CredentialInvalid { offer: offer(), reason: "no".into() };
    let declined = Refusal::PaymentDeclined { offer: offer(), reason: "no".into() };
    for said in [Ok(Outcome::Due(offer())), Err(invalid), Err(declined)] {
        let sealed = closed().seal(&said, &CONTEXT);
        assert_eq!(sealed.status, 503);
        assert_eq!(names(&sealed), ["cache-control", "content-type", "retry-after"]);
        assert_eq!(body(&sealed)["error"]["code"], "payment_unavailable");
    }
}

#[test]
fn who_never_came_before_the_desk_is_told_why() {
    let (mpp, _) = mpp(Porter::good());
    let muddle = Muddle::of_headers("payment_ambiguous", "Send one.");
    let sealed = mpp.turn_away(&muddle);
    assert_eq!(sealed.status, 400);
    assert_eq!(names(&sealed), ["cache-control", "content-type"]);
    assert_eq!(
        body(&sealed),
        json!({
            "type": "https://paymentauth.org/problems/bad-request",
            "title": "Bad Request",
            "status": 400,
            "detail": "Send one.",
            "error": { "code": "payment_ambiguous", "message": "Send one.", "retry": "never" },
        })
    );
}
