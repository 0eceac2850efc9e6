//! x402 payments from the first request to the repeated one, with the real checkout.

use http::{HeaderMap, HeaderValue};
use order::checkout::Request;
use order::model::mail::Promises;
use order::testing::fakes::cards::card;
use order::testing::fakes::fault_schedule::ExhaustiveFaults;
use order::testing::fakes::manual_time::{ManualTime, poll_once};
use order::testing::fakes::process::FakeProcess;
use order::testing::fakes::world::FakeWorld;

use super::*;
use crate::http_binding::{AnswerContext, HttpAnswer, HttpBinding};
use crate::x402::fixture::payment_signature;

const PROMISES: Promises =
    Promises { idempotent_seconds: None, cancel_seconds: 3_600, visibility_lag_seconds: 0 };

struct Shop {
    process: FakeProcess,
    x402: X402,
    settler: Arc<FakeSettler>,
}

impl Shop {
    fn open(settler: FakeSettler) -> Self {
        let still = Box::new(ManualTime::default());
        let world = FakeWorld::new(Box::new(ExhaustiveFaults::default()), still, PROMISES);
        let (x402, settler) = x402(settler);
        Self { process: world.process(), x402, settler }
    }

    /// What the endpoint does between the socket and the checkout.
    fn post(&self, message: &str, credential: Option<&str>) -> HttpAnswer {
        let mut headers = HeaderMap::new();
        if let Some(value) = credential {
            headers.insert("payment-signature", HeaderValue::from_str(value).unwrap());
        }
        let payment = self.x402.payment_headers(&headers, b"").unwrap();
        let request = Request {
            seller: None,
            operation_id: None,
            quote: None,
            card: card(message),
            credential: payment.credential,
        };
        let result = poll_once(self.process.send(&self.x402, request)).unwrap();
        self.x402.answer(&result, &AnswerContext { client: payment.client, body: b"", now: NOW })
    }

    fn pay(&self, answer: &HttpAnswer, network: Network) -> String {
        let challenge = decoded(answer.headers["payment-required"].as_bytes());
        let payload = Payer::new().pay(&challenge, network, NOW);
        payment_signature(&payload)
    }
}

fn body(answer: &HttpAnswer) -> Value {
    serde_json::from_slice(&answer.body).unwrap()
}

#[test]
fn a_card_is_paid_once_and_a_repeated_request_gets_the_same_order() {
    for network in Network::ALL {
        let shop = Shop::open(FakeSettler::good());
        let asked = shop.post("hello", None);
        assert_eq!(asked.status, 402);
        let credential = shop.pay(&asked, network);

        let paid = shop.post("hello", Some(&credential));
        assert_eq!(paid.status, 200, "{:?}", body(&paid));
        assert_eq!(body(&paid)["id"], body(&asked)["public_order_id"]);
        assert_eq!(body(&paid)["status"], "submitted");
        let receipt = decoded(paid.headers["payment-response"].as_bytes());
        assert_eq!(receipt["amount"], "2420000");
        assert_eq!(receipt["network"], network.caip2());
        assert_eq!(receipt["transaction"], TRANSACTION);

        for credential in [Some(credential.as_str()), None, Some("garbage!")] {
            let again = shop.post("hello", credential);
            assert_eq!((again.status.as_u16(), body(&again)), (200, body(&paid)));
            assert!(!again.headers.contains_key("payment-response"));
        }
        assert_eq!(shop.settler.calls(), ["verify", "prepare", "settle"]);

        // The same authorization for another card is refused without a call to the settler.
        let other = shop.post("another card", Some(&credential));
        assert_eq!(other.status, 409);
        assert_eq!(body(&other)["error"]["code"], "payment_bound_elsewhere");
        assert!(!other.headers.contains_key("payment-required"));
        assert_eq!(shop.settler.calls(), ["verify", "prepare", "settle"]);
    }
}

/// The same payment with an identifier of the payer.
fn identified(credential: &str, identifier: &str) -> String {
    let mut payload = decoded(credential.as_bytes());
    payload["extensions"]["payment-identifier"]["info"]["id"] = identifier.into();
    payment_signature(&payload)
}

#[test]
fn an_identified_payment_pays_for_the_challenged_order() {
    let shop = Shop::open(FakeSettler::good());
    let asked = shop.post("hello", None);
    let signed = shop.pay(&asked, Network::Base);
    let credential = identified(&signed, "pay_0123456789abcdef");
    let paid = shop.post("hello", Some(&credential));
    assert_eq!(paid.status, 200, "{:?}", body(&paid));
    assert_eq!(body(&paid)["id"], body(&asked)["public_order_id"]);
    // The same body without a payment is not answered 402 either.
    for credential in [Some(credential.as_str()), Some(signed.as_str()), None] {
        let again = shop.post("hello", credential);
        assert_eq!((again.status.as_u16(), body(&again)), (200, body(&paid)));
    }
    // The identifier belongs to this card.
    let fresh = shop.pay(&shop.post("another card", None), Network::Base);
    let other = shop.post("another card", Some(&identified(&fresh, "pay_0123456789abcdef")));
    assert_eq!(other.status, 409);
    assert_eq!(body(&other)["error"]["code"], "payment_identifier_conflict");
    assert_eq!(shop.settler.calls(), ["verify", "prepare", "settle"]);
}

#[test]
fn a_credential_that_cannot_be_decoded_is_answered_402_with_a_challenge() {
    let shop = Shop::open(FakeSettler::good());
    for garbage in ["garbage!", "e30=", "bm8=", "eyJ4NDAyVmVyc2lvbiI6MX0="] {
        let answer = shop.post("hello", Some(garbage));
        assert_eq!((answer.status.as_u16(), answer.body.as_slice()), (402, &b"{}"[..]));
        let challenge = decoded(answer.headers["payment-required"].as_bytes());
        assert!(challenge["error"].as_str().unwrap().starts_with("invalid_"), "{challenge}");
    }
    assert!(shop.settler.calls().is_empty());
}

#[test]
fn a_credential_that_lacked_an_allowance_can_be_sent_again() {
    let shop = Shop::open(FakeSettler {
        verified: Err(Rejection::AllowanceMissing),
        ..FakeSettler::good()
    });
    let credential = shop.pay(&shop.post("hello", None), Network::Base);
    for _ in 0..2 {
        let answer = shop.post("hello", Some(&credential));
        assert_eq!(answer.status, 412);
    }
    assert_eq!(shop.settler.calls(), ["verify", "verify"]);
}

#[test]
fn an_outage_before_settlement_is_answered_503_and_the_same_payment_pays_afterwards() {
    for settler in [
        FakeSettler { verified: Err(Rejection::Unavailable), ..FakeSettler::good() },
        FakeSettler { prepared: Err(Rejection::Unavailable), ..FakeSettler::good() },
    ] {
        let mut shop = Shop::open(settler);
        let credential = shop.pay(&shop.post("hello", None), Network::Base);
        let silent = shop.post("hello", Some(&credential));
        assert_eq!(silent.status, 503);
        assert_eq!(silent.headers["retry-after"], "5");
        let error = &body(&silent)["error"];
        assert_eq!(error["retry"], "same");
        assert!(error["message"].as_str().unwrap().contains("at the moment"), "{error}");
        (shop.x402, shop.settler) = x402(FakeSettler::good());
        assert_eq!(shop.post("hello", Some(&credential)).status, 200);
    }
}

#[test]
fn a_declined_payment_is_answered_402_and_a_lost_settlement_never_is() {
    let refusing =
        FakeSettler { settled: Err(Unsettled::Refused("no".into())), ..FakeSettler::good() };
    let shop = Shop::open(refusing);
    let credential = shop.pay(&shop.post("hello", None), Network::Polygon);
    let declined = shop.post("hello", Some(&credential));
    assert_eq!((declined.status.as_u16(), declined.body.as_slice()), (402, &b"{}"[..]));
    let receipt = decoded(declined.headers["payment-response"].as_bytes());
    assert_eq!((&receipt["success"], &receipt["network"]), (&json!(false), &json!("eip155:137")));
    assert!(!declined.headers.contains_key("payment-required"));

    let lost = Failure::Lost("cut".into());
    let losing =
        FakeSettler { settled: Err(lost.clone().into()), traced: Err(lost), ..FakeSettler::good() };
    let shop = Shop::open(losing);
    let credential = shop.pay(&shop.post("hello", None), Network::Base);
    for _ in 0..2 {
        let doubtful = shop.post("hello", Some(&credential));
        assert_eq!(doubtful.status, 502);
        assert_eq!(doubtful.headers["retry-after"], "2");
        assert!(body(&doubtful)["error"]["public_order_id"].is_string());
    }
    for other in [None, Some("e30=")] {
        assert_eq!(shop.post("hello", other).status, 409);
    }
}
