//! MPP payments from the first request to the repeated one, with the real checkout.

use http::{HeaderMap, HeaderName};
use order::checkout::Request;
use order::model::mail::Promises;
use order::testing::fakes::cards::card;
use order::testing::fakes::fault_schedule::ExhaustiveFaults;
use order::testing::fakes::manual_time::ManualTime;
use order::testing::fakes::process::FakeProcess;
use order::testing::fakes::world::FakeWorld;

use super::*;
use crate::http_binding::{HttpAnswer, HttpBinding};

const PROMISES: Promises =
    Promises { idempotent_seconds: None, cancel_seconds: 3_600, visibility_lag_seconds: 0 };

struct Shop {
    process: FakeProcess,
    mpp: Mpp,
    settler: Arc<FakeSettler>,
    time: ManualTime,
}

impl Shop {
    fn open(settler: FakeSettler) -> Self {
        let time = ManualTime::default();
        let world =
            FakeWorld::new(Box::new(ExhaustiveFaults::default()), Box::new(time.clone()), PROMISES);
        let (mpp, settler) = mpp(settler);
        Self { process: world.process(), mpp, settler, time }
    }

    /// What the endpoint does between the socket and the checkout.
    fn post(&self, message: &str, brings: &[(&'static str, &str)]) -> HttpAnswer {
        let mut headers = HeaderMap::new();
        for (name, value) in brings {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        let body = message.as_bytes();
        let payment = match self.mpp.payment_headers(&headers, body) {
            Ok(payment) => payment,
            Err(bad_request) => return self.mpp.bad_request(&bad_request),
        };
        let (client, operation_id) = (payment.client, None);
        let (card, credential) = (card(message), payment.credential);
        let request = Request { seller: None, operation_id, card, quote: None, credential };
        let result = poll_once(self.process.send(&self.mpp, request)).unwrap();
        let now = self.process.writer().clock.now();
        self.mpp.answer(&result, &AnswerContext { client, body, now })
    }

    fn pay(&self, asked: &HttpAnswer, nonce: Nonce) -> String {
        let challenge = asked.headers["www-authenticate"].to_str().unwrap();
        authorization(&Payer::new().answer(challenge, nonce))
    }
}

fn body(answer: &HttpAnswer) -> Value {
    serde_json::from_slice(&answer.body).unwrap()
}

fn kind(answer: &HttpAnswer) -> String {
    let kind = body(answer)["type"].as_str().unwrap().to_owned();
    kind.trim_start_matches("https://paymentauth.org/problems/").to_owned()
}

/// Answered 402 with a challenge.
fn is_invited(answer: &HttpAnswer) -> bool {
    let asked = answer.headers.contains_key("www-authenticate");
    assert_eq!(asked, answer.headers.contains_key("payment-required"));
    assert_eq!(asked, answer.status == 402);
    asked
}

#[test]
fn a_card_is_paid_once_and_a_repeated_request_gets_the_same_order() {
    for nonce in [Nonce::Packed, Nonce::Framed] {
        let shop = Shop::open(FakeSettler::good());
        let asked = shop.post("hello", &[]);
        assert_eq!((asked.status.as_u16(), kind(&asked).as_str()), (402, "payment-required"));
        let credential = shop.pay(&asked, nonce);

        let paid = shop.post("hello", &[("authorization", &credential)]);
        assert_eq!(paid.status, 200, "{:?}", body(&paid));
        assert_eq!(body(&paid)["id"], body(&asked)["public_order_id"]);
        assert_eq!(body(&paid)["status"], "submitted");
        let receipt = &paid.headers["payment-receipt"];
        assert_eq!(unpacked(receipt.to_str().unwrap())["reference"], TRANSACTION);
        assert!(!paid.headers.contains_key("payment-response"));

        // The same credential gets the same bytes, in every header and at any time.
        shop.time.advance(86_400);
        for name in ["authorization", "payment-authorization", "payment-signature"] {
            let again = shop.post("hello", &[(name, &credential)]);
            assert_eq!((again.status.as_u16(), body(&again)), (200, body(&paid)));
            assert_eq!(&again.headers["payment-receipt"], receipt);
            assert_eq!(again.headers["cache-control"], "private");
        }
        // So does every other repeated request; none is answered 402.
        for other in
            [&[][..], &[("authorization", "Payment e30")], &[("authorization", "Bearer a")]]
        {
            let again = shop.post("hello", other);
            assert_eq!((again.status.as_u16(), body(&again)), (200, body(&paid)));
            assert_eq!(&again.headers["payment-receipt"], receipt);
        }
        assert_eq!(shop.settler.calls(), ["verify", "prepare", "settle"]);
    }
}

#[test]
fn a_credential_for_one_card_does_not_pay_for_another() {
    let shop = Shop::open(FakeSettler::good());
    let credential = shop.pay(&shop.post("hello", &[]), Nonce::Packed);
    for _ in 0..2 {
        let other = shop.post("another card", &[("authorization", &credential)]);
        assert!(is_invited(&other));
        assert_eq!(kind(&other), "invalid-challenge");
        assert_eq!(shop.post("hello", &[("authorization", &credential)]).status, 200);
    }
    assert_eq!(shop.settler.calls(), ["verify", "prepare", "settle"]);
}

#[test]
fn an_x402_exact_payload_pays_once_and_gets_both_receipts() {
    let shop = Shop::open(FakeSettler::good());
    let asked = shop.post("hello", &[]);
    let required = decoded(asked.headers["payment-required"].as_bytes());
    let payload = payment_signature(&Payer::new().exact(&required, 9));
    let paid = shop.post("hello", &[("payment-signature", &payload)]);
    assert_eq!(paid.status, 200, "{:?}", body(&paid));
    let response = decoded(paid.headers["payment-response"].as_bytes());
    assert_eq!(
        (&response["success"], &response["transaction"]),
        (&json!(true), &json!(TRANSACTION))
    );
    let receipt = &paid.headers["payment-receipt"];
    assert_eq!(unpacked(receipt.to_str().unwrap())["reference"], TRANSACTION);

    let again = shop.post("hello", &[("payment-signature", &payload)]);
    assert_eq!((again.status.as_u16(), &again.headers["payment-receipt"]), (200, receipt));
    assert!(!again.headers.contains_key("payment-response"));

    // The payer chose the nonce: it belongs to the order that it first paid for.
    let other = shop.post("another card", &[("payment-signature", &payload)]);
    assert_eq!((other.status.as_u16(), kind(&other).as_str()), (409, "verification-failed"));
    assert_eq!(body(&other)["error"]["code"], "payment_bound_elsewhere");
    assert!(!is_invited(&other));
    assert_eq!(shop.settler.calls(), ["verify", "prepare", "settle"]);
}

#[test]
fn a_challenge_can_be_used_with_only_one_of_its_two_nonces() {
    let shop = Shop::open(FakeSettler::good());
    let asked = shop.post("hello", &[]);
    let (packed, framed) = (shop.pay(&asked, Nonce::Packed), shop.pay(&asked, Nonce::Framed));
    let paid = shop.post("hello", &[("authorization", &packed)]);
    assert_eq!(paid.status, 200);
    let again = shop.post("hello", &[("authorization", &framed)]);
    assert_eq!(again.status, 200);
    assert_eq!(again.headers["payment-receipt"], paid.headers["payment-receipt"]);
    assert_eq!(shop.settler.calls(), ["verify", "prepare", "settle"]);
}

#[test]
fn an_invalid_credential_is_answered_with_a_new_challenge() {
    let shop = Shop::open(FakeSettler::good());
    let asked = shop.post("hello", &[]);
    let mut ids = vec![body(&asked)["challengeId"].clone()];
    for (name, value, problem) in [
        ("authorization", "Payment !", "malformed-credential"),
        ("authorization", "Payment", "malformed-credential"),
        ("payment-authorization", "Bearer a", "malformed-credential"),
        ("payment-signature", "e30=", "malformed-credential"),
        ("authorization", "Payment eyJjaGFsbGVuZ2UiOnt9LCJwYXlsb2FkIjp7fX0", "invalid-challenge"),
    ] {
        let answer = shop.post("hello", &[(name, value)]);
        assert!(is_invited(&answer), "{value}");
        assert_eq!(kind(&answer), problem, "{value}");
        assert_eq!(answer.headers["cache-control"], "no-store");
        assert_eq!(answer.headers["content-type"], "application/problem+json");
        let id = body(&answer)["challengeId"].clone();
        assert!(!ids.contains(&id), "every challenge is fresh");
        ids.push(id);
    }
    let two = [("authorization", "Payment e30"), ("payment-signature", "e30=")];
    let muddled = shop.post("hello", &two);
    assert_eq!((muddled.status.as_u16(), kind(&muddled).as_str()), (400, "bad-request"));
    assert!(!is_invited(&muddled));
    assert!(shop.settler.calls().is_empty());
}

#[test]
fn an_expired_challenge_is_answered_with_payment_expired() {
    let shop = Shop::open(FakeSettler::good());
    let credential = shop.pay(&shop.post("hello", &[]), Nonce::Packed);
    shop.time.advance(600);
    let late = shop.post("hello", &[("authorization", &credential)]);
    assert!(is_invited(&late));
    assert_eq!(kind(&late), "payment-expired");
    assert!(shop.settler.calls().is_empty());
}

#[test]
fn an_outage_before_settlement_is_answered_503_and_the_same_payment_pays_afterwards() {
    for settler in [
        FakeSettler { verified: Err(Rejection::Unavailable), ..FakeSettler::good() },
        FakeSettler { prepared: Err(Rejection::Unavailable), ..FakeSettler::good() },
    ] {
        let mut shop = Shop::open(settler);
        let credential = shop.pay(&shop.post("hello", &[]), Nonce::Packed);
        let silent = shop.post("hello", &[("authorization", &credential)]);
        assert!(!is_invited(&silent));
        assert_eq!(silent.status, 503);
        assert_eq!(silent.headers["retry-after"], "5");
        assert_eq!(body(&silent)["error"]["retry"], "same");
        let detail = body(&silent)["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains("at the moment"), "{detail}");
        (shop.mpp, shop.settler) = mpp(FakeSettler::good());
        assert_eq!(shop.post("hello", &[("authorization", &credential)]).status, 200);
    }
}

#[test]
fn a_declined_payment_is_answered_402_and_a_lost_settlement_never_is() {
    let refusing =
        FakeSettler { settled: Err(Unsettled::Refused("reverted".into())), ..FakeSettler::good() };
    let shop = Shop::open(refusing);
    let credential = shop.pay(&shop.post("hello", &[]), Nonce::Packed);
    let declined = shop.post("hello", &[("authorization", &credential)]);
    assert!(is_invited(&declined));
    assert_eq!(kind(&declined), "verification-failed");
    assert_eq!(body(&declined)["error"]["code"], "settlement_failed");

    let lost = Failure::Lost("cut".into());
    let losing =
        FakeSettler { settled: Err(lost.clone().into()), traced: Err(lost), ..FakeSettler::good() };
    let shop = Shop::open(losing);
    let asked = shop.post("hello", &[]);
    let (credential, other) = (shop.pay(&asked, Nonce::Packed), shop.pay(&asked, Nonce::Framed));
    for _ in 0..2 {
        let doubtful = shop.post("hello", &[("authorization", &credential)]);
        assert_eq!((doubtful.status.as_u16(), kind(&doubtful).as_str()), (502, "about:blank"));
        assert!(!is_invited(&doubtful));
        assert_eq!(doubtful.headers["retry-after"], "2");
        assert!(body(&doubtful)["error"]["public_order_id"].is_string());
    }
    for brings in [&[][..], &[("authorization", other.as_str())], &[("authorization", "Payment !")]]
    {
        let answer = shop.post("hello", brings);
        assert_eq!(answer.status, 409, "{brings:?}");
        assert!(!is_invited(&answer));
    }
}

#[test]
fn a_lost_settlement_is_traced_and_answered_with_its_receipt() {
    let lost = FakeSettler { settled: Err(Unsettled::Lost("cut".into())), ..FakeSettler::good() };
    let shop = Shop::open(lost);
    let credential = shop.pay(&shop.post("hello", &[]), Nonce::Framed);
    assert_eq!(shop.post("hello", &[("authorization", &credential)]).status, 502);
    // A client that lost the answer sends the same request again, or starts over.
    let found = shop.post("hello", &[("authorization", &credential)]);
    assert_eq!(found.status, 200, "{:?}", body(&found));
    assert!(found.headers.contains_key("payment-receipt"));
    let fresh = shop.post("hello", &[]);
    assert_eq!((fresh.status.as_u16(), body(&fresh)), (200, body(&found)));
    assert_eq!(shop.settler.calls(), ["verify", "prepare", "settle", "trace"]);
}
