//! Every result of a checkout as an x402 answer.

use order::model::card::FieldFault;
use order::model::ids::Timestamp;
use order::model::money::Usdc;
use order::model::payment::{Finality, PaymentKey, Receipt};
use order::tender::Tender;

use super::super::fixture::{
    FACILITATOR, FakeSettler, NOW, ORDER, Payer, TRANSACTION, credential, decoded, offer, quote,
    x402,
};
use super::*;
use crate::x402::challenge::HOW_TO_PAY;

const CONTEXT: AnswerContext<'static> =
    AnswerContext { client: ClientKind::Program, body: b"", now: NOW };

fn contexts() -> [AnswerContext<'static>; 2] {
    [ClientKind::Program, ClientKind::Browser].map(|client| AnswerContext { client, ..CONTEXT })
}

fn answer_to(result: Result<Outcome, Refusal>, context: &AnswerContext<'_>) -> HttpAnswer {
    let (x402, settler) = x402(FakeSettler::good());
    let answer = x402.answer(&result, context);
    assert!(settler.calls().is_empty(), "an answer makes no calls");
    answer
}

/// The headers as text, sorted by name.
fn headers(answer: &HttpAnswer) -> Vec<(&str, &str)> {
    let headers = answer.headers.iter();
    let mut headers: Vec<_> =
        headers.map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
    headers.sort_unstable();
    headers
}

fn names(answer: &HttpAnswer) -> Vec<&str> {
    headers(answer).into_iter().map(|(name, _)| name).collect()
}

fn body(answer: &HttpAnswer) -> Value {
    serde_json::from_slice(&answer.body).unwrap()
}

fn carried(answer: &HttpAnswer, name: HeaderName) -> Value {
    decoded(answer.headers[name].as_bytes())
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
fn a_program_gets_the_challenge_and_the_order_of_an_unpaid_request() {
    let context = AnswerContext { ..CONTEXT };
    let answer = answer_to(Ok(Outcome::Due(offer())), &context);
    assert_eq!(answer.status, 402);
    assert_eq!(names(&answer), ["cache-control", "content-type", "payment-required"]);
    assert_eq!(answer.headers["cache-control"], "no-store");
    assert_eq!(answer.headers["content-type"], "application/json");
    let challenge = carried(&answer, PAYMENT_REQUIRED);
    assert_eq!(
        body(&answer),
        json!({
            "public_order_id": "a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7",
            "status": "unpaid",
            "mode": "live",
            "maximum": "3.50",
            "currency": "USDC",
            "networks": ["eip155:8453", "eip155:137", "eip155:42161"],
            "order_url": "/api/x402/orders/a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7",
            "how_to_pay": HOW_TO_PAY,
            "x402Version": 2,
            "accepts": challenge["accepts"],
        })
    );
    assert_eq!(challenge["error"], "Payment required");
    assert_eq!(challenge["accepts"].as_array().unwrap().len(), 3);
}

#[test]
fn a_browser_gets_the_challenge_without_a_body() {
    for context in contexts() {
        let answer = answer_to(Ok(Outcome::Due(offer())), &context);
        assert_eq!(answer.status, 402);
        assert_eq!(answer.headers["cache-control"], "no-store");
        assert_eq!(carried(&answer, PAYMENT_REQUIRED)["error"], "Payment required");
        let page = context.client == ClientKind::Browser;
        assert_eq!(answer.body.is_empty(), page, "{context:?}");
        assert_eq!(answer.headers.contains_key("content-type"), !page, "{context:?}");
    }
}

#[test]
fn the_receipt_is_only_in_the_answer_to_the_request_that_paid() {
    let words = [
        (Fulfilment::Submitted, "submitted"),
        (Fulfilment::NeedsReconciliation, "fulfillment_needs_reconciliation"),
    ];
    for (context, (fulfilment, word)) in
        contexts().into_iter().flat_map(|it| words.map(|word| (it, word)))
    {
        for when in [When::Now, When::Earlier] {
            let answer = answer_to(paid(fulfilment, when), &context);
            assert_eq!(answer.status, 200);
            let expected = json!({ "id": "a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7", "status": word });
            assert_eq!(body(&answer), expected);
            let mut expected =
                vec![("cache-control", "private"), ("content-type", "application/json")];
            if when == When::Now {
                expected.push(("payment-response", "eyJzdWNjZXNzIjp0cnVlfQ=="));
            }
            assert_eq!(headers(&answer), expected, "{when:?}");
        }
    }
}

#[test]
fn an_invalid_credential_is_answered_with_a_challenge_and_the_reason() {
    for context in contexts() {
        let reason = "permit2_deadline_expired".to_owned();
        let answer =
            answer_to(Err(Refusal::CredentialInvalid { offer: offer(), reason }), &context);
        assert_eq!(answer.status, 402);
        assert_eq!(names(&answer), ["cache-control", "content-type", "payment-required"]);
        assert_eq!(answer.headers["cache-control"], "no-store");
        assert_eq!(answer.body, b"{}");
        let challenge = carried(&answer, PAYMENT_REQUIRED);
        assert_eq!(challenge["error"], "permit2_deadline_expired");
        assert_eq!(challenge["accepts"][0]["extra"]["facilitatorAddress"], FACILITATOR.to_string());
    }
}

#[test]
fn a_missing_allowance_is_answered_412_with_the_code_of_the_protocol() {
    for context in contexts() {
        let answer = answer_to(Err(Refusal::AllowanceRequired(offer())), &context);
        assert_eq!(answer.status, 412);
        assert_eq!(names(&answer), ["cache-control", "content-type", "payment-required"]);
        assert_eq!(answer.headers["cache-control"], "no-store");
        assert_eq!(carried(&answer, PAYMENT_REQUIRED)["error"], "permit2_allowance_required");
        let error = &body(&answer)["error"];
        assert_eq!(error["code"], "permit2_allowance_required");
        assert_eq!(error["retry"], "same", "the credential is as good as before");
        assert_eq!(error["public_order_id"], ORDER.to_string());
    }
}

#[test]
fn a_missing_allowance_lists_token_spender_call_and_permit() {
    for context in contexts() {
        let answer = answer_to(Err(Refusal::AllowanceRequired(offer())), &context);
        let challenge = carried(&answer, PAYMENT_REQUIRED);
        let missing = &body(&answer)["error"]["allowance"];
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
fn a_declined_payment_is_answered_with_a_failed_receipt_and_no_challenge() {
    let payer = Payer::new();
    let (x402, _) = x402(FakeSettler::good());
    let challenge = x402.challenge(&offer(), UNPAID).unwrap();
    let payload = payer.pay(&decoded(challenge.header), order::model::chain::Network::Polygon, NOW);
    let authorization = credential::Permit2Authorization::read(&credential(&payload));
    let Ok(authorization) = authorization else { panic!("it reads") };
    let written = receipt::failure(&authorization, "permit2_simulation_failed");
    for context in contexts() {
        let reason = written.clone();
        let answer = answer_to(Err(Refusal::PaymentDeclined { offer: offer(), reason }), &context);
        assert_eq!(answer.status, 402);
        assert_eq!(names(&answer), ["cache-control", "content-type", "payment-response"]);
        assert_eq!(answer.headers["cache-control"], "no-store");
        assert_eq!(answer.body, b"{}");
        assert_eq!(
            carried(&answer, PAYMENT_RESPONSE),
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
    let answer = answer_to(Err(Refusal::PaymentDeclined { offer: offer(), reason }), &CONTEXT);
    assert_eq!(carried(&answer, PAYMENT_RESPONSE)["errorReason"], "reverted");
    assert_eq!(carried(&answer, PAYMENT_RESPONSE)["network"], "eip155:8453");
}

/// Every other refusal with its status, code and `Retry-After`.
fn plain_refusals() -> Vec<(Refusal, u16, &'static str, Option<&'static str>)> {
    let faults = vec![FieldFault { field: "message", message: "This field is empty.".into() }];
    let (soon, never) = (Some("2"), None);
    vec![
        (Refusal::CardInvalid(faults), 400, "invalid_postcard", never),
        (Refusal::IdentifierInvalid, 400, "invalid_payment_identifier", never),
        (Refusal::QuoteInvalid, 400, "invalid_quote", never),
        (Refusal::SellerNotEnabled, 403, "seller_not_enabled", never),
        (Refusal::SellerUnresolved, 404, "seller_not_resolved", never),
        (Refusal::DifferentRequest, 409, "idempotency_conflict", never),
        (Refusal::PaymentIdentifierUsed(ORDER), 409, "payment_identifier_conflict", never),
        (Refusal::PaymentBoundElsewhere, 409, "payment_bound_elsewhere", never),
        (Refusal::PaymentInPlay(ORDER), 409, "reconciliation_conflict", soon),
        (Refusal::InProgress(ORDER), 409, "order_state_conflict", soon),
        (Refusal::SellerAddressChanged(ORDER), 409, "seller_address_changed", never),
        (Refusal::PriceAboveCeiling(ORDER), 409, "price_conflict", never),
        (Refusal::QuoteExpired(ORDER), 409, "quote_expired", never),
        (Refusal::QuoteExceeded { order: ORDER, quote: quote() }, 409, "price_conflict", never),
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
fn every_other_refusal_is_an_error_without_a_challenge() {
    for (refusal, status, code, wait) in plain_refusals() {
        for context in contexts() {
            let answer = answer_to(Err(refusal.clone()), &context);
            let mut expected =
                vec![("cache-control", "no-store"), ("content-type", "application/json")];
            expected.extend(wait.map(|seconds| ("retry-after", seconds)));
            assert_eq!(headers(&answer), expected, "{refusal:?}");
            assert_eq!(answer.status.as_u16(), status, "{refusal:?}");
            let error = &body(&answer)["error"];
            assert_eq!(error["code"], code, "{refusal:?}");
            let order = HttpError::from(&refusal).order.map(|order| order.to_string());
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
fn without_a_supported_network_a_challenge_is_answered_503() {
    let unsupported = || x402(FakeSettler { networks: Vec::new(), ..FakeSettler::good() }).0;
    let invalid = Refusal::CredentialInvalid { offer: offer(), reason: "expired".into() };
    for result in
        [Ok(Outcome::Due(offer())), Err(invalid), Err(Refusal::AllowanceRequired(offer()))]
    {
        for context in contexts() {
            let answer = unsupported().answer(&result, &context);
            assert_eq!(answer.status, 503);
            assert_eq!(body(&answer)["error"]["code"], "payment_unavailable");
            assert_eq!(answer.headers["retry-after"], "5");
            assert!(!answer.headers.contains_key(PAYMENT_REQUIRED));
        }
    }
}

#[test]
fn only_a_browser_without_a_credential_gets_html() {
    let (x402, _) = x402(FakeSettler::good());
    let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    let html = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8";
    let client = |accept: &str, agent: &str, brings: Option<&str>| {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, accept.parse().unwrap());
        headers.insert(USER_AGENT, agent.parse().unwrap());
        if let Some(credential) = brings {
            headers.insert("payment-signature", credential.parse().unwrap());
        }
        x402.payment_headers(&headers, b"").unwrap().client
    };
    assert_eq!(client(html, firefox, None), ClientKind::Browser);
    assert_eq!(client(html, firefox, Some("")), ClientKind::Browser);
    assert_eq!(client(html, firefox, Some("e30=")), ClientKind::Program);
    assert_eq!(client("*/*", firefox, None), ClientKind::Program);
    assert_eq!(client(html, "curl/8.9.1", None), ClientKind::Program);
    assert_eq!(client("TEXT/HTML", firefox, None), ClientKind::Program);
}

#[test]
fn a_payment_with_an_invalid_identifier_is_a_bad_request() {
    let (x402, _) = x402(FakeSettler::good());
    let challenge = x402.challenge(&offer(), UNPAID).unwrap();
    let mut payload =
        Payer::new().pay(&decoded(challenge.header), order::model::chain::Network::Base, NOW);
    payload["extensions"]["payment-identifier"]["info"]["id"] = "birthday-of-ada-2026".into();
    let open = |payload: &Value| {
        let header = receipt::header(payload.to_string().as_bytes());
        let mut headers = HeaderMap::new();
        headers.insert("payment-signature", header);
        x402.payment_headers(&headers, b"")
    };
    let payment = open(&payload).unwrap();
    assert_eq!(payment.credential, Some(credential(&payload)));
    let presented = x402.read(credential(&payload));
    let keys = presented.keys();
    let id = "birthday-of-ada-2026".parse().unwrap();
    assert_eq!(keys.identifier, Some(PaymentKey::of_identifier(&id)));

    payload["extensions"]["payment-identifier"]["info"]["id"] = "ada".into();
    assert_eq!(open(&payload), Err(BadRequest::PaymentIdentifierInvalid));
    let nothing = x402.payment_headers(&HeaderMap::new(), b"").unwrap();
    assert_eq!(nothing.credential, None);
}
