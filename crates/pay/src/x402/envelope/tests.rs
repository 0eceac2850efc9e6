//! Every word of the desk, in HTTP's.

use order::model::card::FieldFault;
use order::model::ids::Timestamp;
use order::model::money::Usdc;
use order::model::payment::{Finality, PaymentKey, Receipt};
use order::tender::Tender;

use super::super::samples::{
    CARRIER, NOW, ORDER, Payer, Porter, TRANSACTION, credential, decoded, offer, x402,
};
use super::*;
use crate::x402::challenge::HOW_TO_PAY;

const CONTEXT: Context<'static> =
    Context { reader: Reader::Program, brought: Brought::Credential, body: b"", now: NOW };

fn contexts() -> impl Iterator<Item = Context<'static>> {
    [Reader::Program, Reader::Person].into_iter().flat_map(|reader| {
        [Brought::Nothing, Brought::Credential].map(|brought| Context {
            reader,
            brought,
            ..CONTEXT
        })
    })
}

fn seal(said: Result<Outcome, Refusal>, context: &Context<'_>) -> Sealed {
    let (x402, porter) = x402(Porter::good());
    let sealed = x402.seal(&said, context);
    assert!(porter.calls().is_empty(), "an answer asks nobody");
    sealed
}

/// The headers as text, in the sequence of their names.
fn headers(sealed: &Sealed) -> Vec<(&str, &str)> {
    let headers = sealed.headers.iter();
    let mut headers: Vec<_> =
        headers.map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
    headers.sort_unstable();
    headers
}

fn names(sealed: &Sealed) -> Vec<&str> {
    headers(sealed).into_iter().map(|(name, _)| name).collect()
}

fn body(sealed: &Sealed) -> Value {
    serde_json::from_slice(&sealed.body).unwrap()
}

fn carried(sealed: &Sealed, name: HeaderName) -> Value {
    decoded(sealed.headers[name].as_bytes())
}

fn paid(fulfilment: Fulfilment, paid: When) -> Result<Outcome, Refusal> {
    let settlement = Settlement {
        transaction: TRANSACTION.into(),
        amount: Usdc::from_atomic(2_117_500),
        at: Timestamp(7),
        finality: Finality::Provisional,
        receipt: Receipt(br#"{"success":true}"#.to_vec()),
    };
    Ok(Outcome::Paid { order: ORDER, settlement, fulfilment, paid })
}

#[test]
fn an_unpaid_order_is_told_to_programs_with_all_that_they_need() {
    let context = Context { brought: Brought::Nothing, ..CONTEXT };
    let sealed = seal(Ok(Outcome::Due(offer())), &context);
    assert_eq!(sealed.status, 402);
    assert_eq!(names(&sealed), ["cache-control", "content-type", "payment-required"]);
    assert_eq!(sealed.headers["cache-control"], "no-store");
    assert_eq!(sealed.headers["content-type"], "application/json");
    assert_eq!(
        body(&sealed),
        json!({
            "public_order_id": "a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7",
            "status": "unpaid",
            "mode": "live",
            "maximum": "3.50",
            "currency": "USDC",
            "networks": ["eip155:8453", "eip155:137", "eip155:42161"],
            "order_url": "/api/x402/orders/a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7",
            "how_to_pay": HOW_TO_PAY,
        })
    );
    let challenge = carried(&sealed, PAYMENT_REQUIRED);
    assert_eq!(challenge["error"], "Payment required");
    assert_eq!(challenge["accepts"].as_array().unwrap().len(), 3);
}

#[test]
fn a_person_without_a_credential_gets_the_challenge_and_a_page_from_elsewhere() {
    for context in contexts() {
        let sealed = seal(Ok(Outcome::Due(offer())), &context);
        assert_eq!(sealed.status, 402);
        assert_eq!(sealed.headers["cache-control"], "no-store");
        assert_eq!(carried(&sealed, PAYMENT_REQUIRED)["error"], "Payment required");
        let page = context.reader == Reader::Person && context.brought == Brought::Nothing;
        assert_eq!(sealed.body.is_empty(), page, "{context:?}");
        assert_eq!(sealed.headers.contains_key("content-type"), !page, "{context:?}");
    }
}

#[test]
fn a_paid_order_has_its_receipt_in_the_answer_that_paid_and_in_no_other() {
    let words = [
        (Fulfilment::Submitted, "submitted"),
        (Fulfilment::NeedsReconciliation, "fulfillment_needs_reconciliation"),
    ];
    for (context, (fulfilment, word)) in contexts().flat_map(|it| words.map(|word| (it, word))) {
        for when in [When::Now, When::Earlier] {
            let sealed = seal(paid(fulfilment, when), &context);
            assert_eq!(sealed.status, 200);
            let expected = json!({ "id": "a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7", "status": word });
            assert_eq!(body(&sealed), expected);
            let mut expected =
                vec![("cache-control", "private"), ("content-type", "application/json")];
            if when == When::Now {
                expected.push(("payment-response", "eyJzdWNjZXNzIjp0cnVlfQ=="));
            }
            assert_eq!(headers(&sealed), expected, "{when:?}");
        }
    }
}

#[test]
fn a_credential_that_does_not_hold_is_challenged_anew_with_the_reason() {
    for context in contexts() {
        let reason = "permit2_deadline_expired".to_owned();
        let sealed = seal(Err(Refusal::CredentialInvalid { offer: offer(), reason }), &context);
        assert_eq!(sealed.status, 402);
        assert_eq!(names(&sealed), ["cache-control", "content-type", "payment-required"]);
        assert_eq!(sealed.headers["cache-control"], "no-store");
        assert_eq!(sealed.body, b"{}");
        let challenge = carried(&sealed, PAYMENT_REQUIRED);
        assert_eq!(challenge["error"], "permit2_deadline_expired");
        assert_eq!(challenge["accepts"][0]["extra"]["facilitatorAddress"], CARRIER.to_string());
    }
}

#[test]
fn a_missing_allowance_is_412_with_the_magic_word() {
    for context in contexts() {
        let sealed = seal(Err(Refusal::AllowanceRequired(offer())), &context);
        assert_eq!(sealed.status, 412);
        assert_eq!(names(&sealed), ["cache-control", "content-type", "payment-required"]);
        assert_eq!(sealed.headers["cache-control"], "no-store");
        assert_eq!(carried(&sealed, PAYMENT_REQUIRED)["error"], "permit2_allowance_required");
        let error = &body(&sealed)["error"];
        assert_eq!(error["code"], "permit2_allowance_required");
        assert_eq!(error["retry"], "same", "the credential is as good as before");
        assert_eq!(error["public_order_id"], ORDER.to_string());
    }
}

#[test]
fn a_missing_allowance_names_token_spender_call_and_the_permit_that_replaces_it() {
    for context in contexts() {
        let sealed = seal(Err(Refusal::AllowanceRequired(offer())), &context);
        let challenge = carried(&sealed, PAYMENT_REQUIRED);
        let missing = &body(&sealed)["error"]["allowance"];
        for member in ["spender", "tokens", "minimum", "or_permit"] {
            assert_eq!(missing[member], challenge["allowance"][member], "{member}");
        }
        assert_eq!(challenge["allowance"]["call"]["function"], "approve(address,uint256)");
        assert_eq!(missing["spender"], "0x000000000022D473030F116dDEE9F6B43aC78BA3");
        let base = order::model::chain::Network::Base;
        assert_eq!(
            missing["tokens"][0],
            json!({ "network": base.caip2(), "token": base.usdc().to_string() })
        );
        assert_eq!(missing["call"]["function"], "approve(address,uint256)");
        assert!(missing["call"]["data"].as_str().unwrap().starts_with("0x095ea7b3"));
        assert_eq!(missing["or_permit"], "eip2612GasSponsoring");
        assert!(challenge["extensions"]["eip2612GasSponsoring"].is_object());
    }
}

#[test]
fn a_declined_payment_has_a_receipt_that_says_so_and_no_challenge() {
    let payer = Payer::new();
    let (x402, _) = x402(Porter::good());
    let challenge = x402.challenge(&offer(), UNPAID).unwrap();
    let payload = payer.pay(&decoded(challenge.header), order::model::chain::Network::Polygon, NOW);
    let promise = credential::Promise::read(&credential(&payload));
    let Ok(promise) = promise else { panic!("it reads") };
    let written = receipt::failure(&promise, "permit2_simulation_failed");
    for context in contexts() {
        let reason = written.clone();
        let sealed = seal(Err(Refusal::PaymentDeclined { offer: offer(), reason }), &context);
        assert_eq!(sealed.status, 402);
        assert_eq!(names(&sealed), ["cache-control", "content-type", "payment-response"]);
        assert_eq!(sealed.headers["cache-control"], "no-store");
        assert_eq!(sealed.body, b"{}");
        assert_eq!(
            carried(&sealed, PAYMENT_RESPONSE),
            json!({
                "success": false,
                "errorReason": "permit2_simulation_failed",
                "payer": payer.address().to_string(),
                "transaction": "",
                "network": "eip155:137",
            })
        );
    }
    let reason = "reverted".to_owned();
    let sealed = seal(Err(Refusal::PaymentDeclined { offer: offer(), reason }), &CONTEXT);
    assert_eq!(carried(&sealed, PAYMENT_RESPONSE)["errorReason"], "reverted");
    assert_eq!(carried(&sealed, PAYMENT_RESPONSE)["network"], "eip155:8453");
}

/// Every other refusal, its status, its code, and whether waiting may help.
fn plain_refusals() -> Vec<(Refusal, u16, &'static str, Option<&'static str>)> {
    let faults = vec![FieldFault { field: "message", message: "This field is empty.".into() }];
    let (soon, never) = (Some("2"), None);
    vec![
        (Refusal::CardInvalid(faults), 400, "invalid_postcard", never),
        (Refusal::IdentifierInvalid, 400, "invalid_payment_identifier", never),
        (Refusal::SellerNameInvalid, 400, "invalid_postcard", never),
        (Refusal::SellerNotEnabled, 403, "seller_not_enabled", never),
        (Refusal::SellerUnresolved, 404, "seller_not_resolved", never),
        (Refusal::DifferentRequest(ORDER), 409, "idempotency_conflict", never),
        (Refusal::PaymentIdentifierUsed(ORDER), 409, "payment_identifier_conflict", never),
        (Refusal::PaymentBoundElsewhere, 409, "payment_bound_elsewhere", never),
        (Refusal::PaymentInPlay(ORDER), 409, "reconciliation_conflict", soon),
        (Refusal::InProgress(ORDER), 409, "order_state_conflict", soon),
        (Refusal::SellerAddressChanged(ORDER), 409, "seller_address_changed", never),
        (Refusal::PriceAboveCeiling(ORDER), 409, "price_conflict", never),
        (Refusal::OperationLapsed(ORDER), 410, "operation_expired", never),
        (Refusal::NameServiceFailed, 500, "internal_error", soon),
        (Refusal::Internal, 500, "internal_error", soon),
        (Refusal::PaymentUnconfirmed(ORDER), 502, "settlement_unconfirmed", soon),
        (Refusal::ProviderUnreachable, 502, "provider_unreachable", Some("5")),
        (Refusal::ProviderUnusable, 502, "provider_invalid_response", Some("5")),
        (Refusal::SubmissionUnresolved(ORDER), 503, "submission_unresolved", Some("60")),
        (Refusal::QuoteLimit(ORDER), 503, "rate_limited", Some("60")),
        (Refusal::ProviderUnavailable, 503, "provider_unavailable", Some("60")),
        (Refusal::PaymentUnavailable, 503, "payment_unavailable", Some("5")),
        (Refusal::StoreBusy, 503, "storage_busy", soon),
    ]
}

#[test]
fn every_other_refusal_is_an_error_that_invites_nobody_to_pay() {
    for (refusal, status, code, wait) in plain_refusals() {
        for context in contexts() {
            let sealed = seal(Err(refusal.clone()), &context);
            let mut expected =
                vec![("cache-control", "no-store"), ("content-type", "application/json")];
            expected.extend(wait.map(|seconds| ("retry-after", seconds)));
            assert_eq!(headers(&sealed), expected, "{refusal:?}");
            assert_eq!(sealed.status.as_u16(), status, "{refusal:?}");
            let error = &body(&sealed)["error"];
            assert_eq!(error["code"], code, "{refusal:?}");
            let order = verdict(&refusal).order.map(|order| order.to_string());
            assert_eq!(error["public_order_id"].as_str(), order.as_deref(), "{refusal:?}");
            assert_eq!(
                error["fields"].is_array(),
                code == "invalid_postcard"
                    && status == 400
                    && matches!(refusal, Refusal::CardInvalid(_))
            );
        }
    }
}

#[test]
fn while_nobody_carries_promises_nobody_is_invited() {
    let nobody = || x402(Porter { networks: Vec::new(), ..Porter::good() }).0;
    let invalid = Refusal::CredentialInvalid { offer: offer(), reason: "expired".into() };
    for said in [Ok(Outcome::Due(offer())), Err(invalid), Err(Refusal::AllowanceRequired(offer()))]
    {
        for context in contexts() {
            let sealed = nobody().seal(&said, &context);
            assert_eq!(sealed.status, 503);
            assert_eq!(body(&sealed)["error"]["code"], "payment_unavailable");
            assert_eq!(sealed.headers["retry-after"], "5");
            assert!(!sealed.headers.contains_key(PAYMENT_REQUIRED));
        }
    }
}

#[test]
fn a_page_is_for_browsers_that_bring_nothing() {
    let (x402, _) = x402(Porter::good());
    let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    let html = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8";
    let reader = |accept: &str, agent: &str, brings: Option<&str>| {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, accept.parse().unwrap());
        headers.insert(USER_AGENT, agent.parse().unwrap());
        if let Some(credential) = brings {
            headers.insert("payment-signature", credential.parse().unwrap());
        }
        x402.open(&headers, b"").unwrap().reader
    };
    assert_eq!(reader(html, firefox, None), Reader::Person);
    assert_eq!(reader(html, firefox, Some("")), Reader::Person);
    assert_eq!(reader(html, firefox, Some("e30=")), Reader::Program);
    assert_eq!(reader("*/*", firefox, None), Reader::Program);
    assert_eq!(reader(html, "curl/8.9.1", None), Reader::Program);
    assert_eq!(reader("TEXT/HTML", firefox, None), Reader::Program);
}

#[test]
fn a_payment_is_taken_with_its_identifier_and_refused_with_a_bad_one() {
    let (x402, _) = x402(Porter::good());
    let challenge = x402.challenge(&offer(), UNPAID).unwrap();
    let mut payload =
        Payer::new().pay(&decoded(challenge.header), order::model::chain::Network::Base, NOW);
    payload["extensions"]["payment-identifier"]["info"]["id"] = "birthday-of-ada-2026".into();
    let open = |payload: &Value| {
        let header = receipt::header(payload.to_string().as_bytes());
        let mut headers = HeaderMap::new();
        headers.insert("payment-signature", header.parse().unwrap());
        x402.open(&headers, b"")
    };
    let opened = open(&payload).unwrap();
    assert_eq!(opened.credential, Some(credential(&payload)));
    let keys = x402.keys(&credential(&payload));
    let id = "birthday-of-ada-2026".parse().unwrap();
    assert_eq!(keys.identifier, Some(PaymentKey::of_identifier(&id)));

    payload["extensions"]["payment-identifier"]["info"]["id"] = "ada".into();
    assert_eq!(open(&payload).unwrap_err().code, "invalid_payment_identifier");
    let nothing = x402.open(&HeaderMap::new(), b"").unwrap();
    assert_eq!(nothing.credential, None);
}
