//! Every result of a checkout as an MPP answer.

use order::model::card::FieldFault;
use order::model::ids::Timestamp;
use order::model::money::CEILING;
use order::model::payment::{Finality, Receipt};

use super::super::fixture::{
    BODY, FakeSettler, NOW, ORDER, SELLER, TRANSACTION, decoded, mpp, offer, parameters,
};
use super::super::settler::TransferSupport;
use super::*;
use crate::mpp::challenge::UNPAID;
use crate::x402::fixture::quote;

const CONTEXT: AnswerContext<'static> =
    AnswerContext { client: ClientKind::Program, body: BODY, now: NOW };
const CONTEXTS: [AnswerContext<'static>; 2] = [CONTEXT, AnswerContext { ..CONTEXT }];

fn answer_to(result: Result<Outcome, Refusal>, context: &AnswerContext<'_>) -> HttpAnswer {
    let (mpp, settler) = mpp(FakeSettler::good());
    let answer = mpp.answer(&result, context);
    assert!(settler.calls().is_empty(), "an answer makes no calls");
    answer
}

fn names(answer: &HttpAnswer) -> Vec<&str> {
    let mut names: Vec<_> = answer.headers.keys().map(HeaderName::as_str).collect();
    names.sort_unstable();
    names
}

fn body(answer: &HttpAnswer) -> Value {
    serde_json::from_slice(&answer.body).unwrap()
}

fn text<'a>(answer: &'a HttpAnswer, name: &str) -> &'a str {
    answer.headers[name].to_str().unwrap()
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
fn an_unpaid_request_gets_the_challenges_of_both_protocols() {
    for context in &CONTEXTS {
        let answer = answer_to(Ok(Outcome::Due(offer())), context);
        assert_eq!((answer.status.as_u16(), names(&answer)), (402, CHALLENGED.to_vec()));
        assert_eq!(text(&answer, "cache-control"), "no-store");
        assert_eq!(text(&answer, "content-type"), "application/problem+json");
        let challenge = parameters(text(&answer, "www-authenticate"));
        assert_eq!(
            body(&answer),
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
        let mut required = decoded(text(&answer, "payment-required"));
        let told = required["extensions"].take();
        for shape in ["input", "output"] {
            let shape = &told["bazaar"]["schema"]["properties"][shape];
            assert!(shape.is_object(), "registries need the request and the response");
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
fn an_invalid_credential_is_answered_with_a_challenge_and_the_reason() {
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
            let answer = answer_to(Err(refusal), &CONTEXTS[1]);
            assert_eq!((answer.status.as_u16(), names(&answer)), (402, CHALLENGED.to_vec()));
            assert_eq!(text(&answer, "cache-control"), "no-store");
            let (result, challenge) =
                (body(&answer), parameters(text(&answer, "www-authenticate")));
            let kind = format!("https://paymentauth.org/problems/{code}");
            assert_eq!((&result["type"], &result["title"]), (&json!(kind), &json!(title)));
            assert_eq!((&result["status"], &result["detail"]), (&json!(402), &json!(detail)));
            assert_eq!(result["challengeId"], challenge["id"]);
            assert_eq!(result["error"]["code"], word);
            assert_eq!(result["error"]["retry"], "new_payment");
            assert_eq!(decoded(text(&answer, "payment-required"))["error"], detail);
        }
    }
}

#[test]
fn the_receipt_is_in_every_answer_about_the_paid_order() {
    let (plain, both) = ("eyJzdGF0dXMiOiJzdWNjZXNzIn0", "eyJzdGF0dXMiOiJzdWNjZXNzIn0\ne30=");
    let kept = ["cache-control", "content-type"];
    let receipt = ["cache-control", "content-type", "payment-receipt"];
    let two = ["cache-control", "content-type", "payment-receipt", "payment-response"];
    for (written, when, expected) in [
        (plain, When::Now, &receipt[..]),
        (plain, When::Earlier, &receipt),
        (both, When::Now, &two),
        (both, When::Earlier, &receipt),
        // A receipt of x402 is not one of MPP.
        (r#"{"success":true}"#, When::Now, &kept),
        (r#"{"success":true}"#, When::Earlier, &kept),
        ("", When::Now, &kept),
    ] {
        for context in &CONTEXTS {
            let answer = answer_to(paid(written, when), context);
            assert_eq!((answer.status.as_u16(), names(&answer)), (200, expected.to_vec()));
            assert_eq!(text(&answer, "cache-control"), "private");
            assert_eq!(text(&answer, "content-type"), "application/json");
            let expected = json!({ "id": ORDER.to_string(), "status": "submitted" });
            assert_eq!(body(&answer), expected);
            if answer.headers.contains_key(PAYMENT_RECEIPT) {
                assert_eq!(text(&answer, "payment-receipt"), plain);
            }
        }
    }
}

#[test]
fn a_payment_that_needs_reconciliation_is_answered_with_its_receipt() {
    let Ok(Outcome::Paid { order, settlement, paid, .. }) = paid("e30", When::Now) else {
        panic!("it is paid")
    };
    let fulfilment = Fulfilment::NeedsReconciliation;
    let answer = answer_to(Ok(Outcome::Paid { order, settlement, fulfilment, paid }), &CONTEXT);
    assert_eq!(answer.status, 200);
    assert_eq!(body(&answer)["status"], "fulfillment_needs_reconciliation");
    assert_eq!(text(&answer, "payment-receipt"), "e30");
}

/// Every other refusal with its status, problem type, code and `Retry-After`.
fn plain_refusals() -> Vec<(Refusal, u16, &'static str, &'static str, Option<&'static str>)> {
    let faults = vec![FieldFault { field: "message", message: "This field is empty.".into() }];
    let (soon, never) = (Some("2"), None);
    let (bad, ours, none) = ("bad-request", "internal-payment-error", "about:blank");
    let used = "verification-failed";
    vec![
        (Refusal::CardInvalid(faults), 400, bad, "invalid_postcard", never),
        (Refusal::IdentifierInvalid, 400, bad, "invalid_payment_identifier", never),
        (Refusal::QuoteInvalid, 400, bad, "invalid_quote", never),
        (Refusal::SellerNotEnabled, 403, none, "seller_not_enabled", never),
        (Refusal::SellerUnresolved, 404, none, "seller_not_resolved", never),
        (Refusal::DifferentRequest, 409, none, "idempotency_conflict", never),
        (Refusal::PaymentIdentifierUsed(ORDER), 409, none, "payment_identifier_conflict", never),
        (Refusal::PaymentBoundElsewhere, 409, used, "payment_bound_elsewhere", never),
        (Refusal::PaymentInPlay(ORDER), 409, none, "reconciliation_conflict", soon),
        (Refusal::InProgress(ORDER), 409, none, "order_state_conflict", soon),
        (Refusal::SellerAddressChanged(ORDER), 409, none, "seller_address_changed", never),
        (Refusal::PriceAboveCeiling(ORDER), 409, none, "price_conflict", never),
        (Refusal::QuoteExpired(ORDER), 409, none, "quote_expired", never),
        (
            Refusal::QuoteExceeded { order: ORDER, quote: quote() },
            409,
            none,
            "price_conflict",
            never,
        ),
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
fn every_other_refusal_is_a_problem_document_without_a_challenge() {
    for (refusal, status, kind, code, wait) in plain_refusals() {
        for context in &CONTEXTS {
            let answer = answer_to(Err(refusal.clone()), context);
            let mut expected = vec!["cache-control", "content-type"];
            expected.extend(wait.map(|_| "retry-after"));
            assert_eq!(names(&answer), expected, "{refusal:?}");
            assert_eq!(text(&answer, "cache-control"), "no-store");
            assert_eq!(text(&answer, "content-type"), "application/problem+json");
            let result = body(&answer);
            assert_eq!(answer.status.as_u16(), status, "{refusal:?}");
            assert_eq!(result["status"], status, "{refusal:?}");
            let problem_type = result["type"].as_str().unwrap();
            let problem_type = problem_type.trim_start_matches("https://paymentauth.org/problems/");
            assert_eq!(problem_type, kind, "{refusal:?}");
            assert_ne!(result["title"], "");
            assert_eq!(result["detail"], HttpError::from(&refusal).message);
            assert_eq!(result["error"], refusal_body(&refusal)["error"], "{refusal:?}");
            assert_eq!(result["error"]["code"], code, "{refusal:?}");
        }
    }
}

#[test]
fn without_a_supported_network_a_challenge_is_answered_503() {
    let closed =
        || mpp(FakeSettler { service: TransferSupport::NotOffered, ..FakeSettler::good() }).0;
    let invalid = Refusal::CredentialInvalid { offer: offer(), reason: "no".into() };
    let declined = Refusal::PaymentDeclined { offer: offer(), reason: "no".into() };
    for result in [Ok(Outcome::Due(offer())), Err(invalid), Err(declined)] {
        let answer = closed().answer(&result, &CONTEXT);
        assert_eq!(answer.status, 503);
        assert_eq!(names(&answer), ["cache-control", "content-type", "retry-after"]);
        assert_eq!(body(&answer)["error"]["code"], "payment_unavailable");
    }
}

#[test]
fn a_request_that_fails_before_the_checkout_gets_a_problem_document() {
    let (mpp, _) = mpp(FakeSettler::good());
    let answer = mpp.bad_request(&BadRequest::SeveralCredentials);
    let message = HttpError::from(&BadRequest::SeveralCredentials).message;
    assert_eq!(answer.status, 400);
    assert_eq!(names(&answer), ["cache-control", "content-type"]);
    assert_eq!(
        body(&answer),
        json!({
            "type": "https://paymentauth.org/problems/bad-request",
            "title": "Bad Request",
            "status": 400,
            "detail": message,
            "error": { "code": "payment_ambiguous", "message": message, "retry": "never" },
        })
    );
}
