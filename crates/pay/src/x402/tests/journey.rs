//! From the first request to the second answer, before the real desk.

use http::{HeaderMap, HeaderValue};
use order::checkout::{Desk, Request};
use order::model::mail::Promises;
use order::testing::fakes::cards::card;
use order::testing::fakes::fates::EveryFate;
use order::testing::fakes::still::{Still, drive};
use order::testing::fakes::world::World;

use super::*;
use crate::envelope::{Brought, Context, Envelope, Sealed};
use crate::x402::receipt;

const PROMISES: Promises =
    Promises { idempotent_seconds: None, cancel_seconds: 3_600, visibility_lag_seconds: 0 };

struct Shop {
    desk: Desk,
    x402: X402,
    porter: Arc<Porter>,
}

impl Shop {
    fn open(porter: Porter) -> Self {
        let still = Box::new(Still::default());
        let world = World::new(Box::new(EveryFate::default()), still, PROMISES);
        let (x402, porter) = x402(porter);
        Self { desk: world.desk(), x402, porter }
    }

    /// What the web does between the socket and the desk.
    fn post(&self, message: &str, credential: Option<&str>) -> Sealed {
        let mut headers = HeaderMap::new();
        if let Some(value) = credential {
            headers.insert("payment-signature", HeaderValue::from_str(value).unwrap());
        }
        let opened = self.x402.open(&headers, b"").unwrap();
        let brought =
            if opened.credential.is_some() { Brought::Credential } else { Brought::Nothing };
        let request = Request {
            seller: None,
            operation_id: None,
            card: card(message),
            credential: opened.credential,
        };
        let said = drive(self.desk.send(&self.x402, request)).unwrap();
        self.x402.seal(&said, &Context { reader: opened.reader, brought, body: b"", now: NOW })
    }

    fn pay(&self, sealed: &Sealed, network: Network) -> String {
        let challenge = decoded(sealed.headers["payment-required"].as_bytes());
        let payload = Payer::new().pay(&challenge, network, NOW);
        receipt::header(payload.to_string().as_bytes())
    }
}

fn body(sealed: &Sealed) -> Value {
    serde_json::from_slice(&sealed.body).unwrap()
}

#[test]
fn a_card_is_asked_for_paid_once_and_answered_for_again() {
    for network in Network::ALL {
        let shop = Shop::open(Porter::good());
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
        assert_eq!(shop.porter.calls(), ["verify", "prepare", "settle"]);

        // The same promise for another card: nobody outside is asked about it.
        let other = shop.post("another card", Some(&credential));
        assert_eq!(other.status, 409);
        assert_eq!(body(&other)["error"]["code"], "payment_bound_elsewhere");
        assert!(!other.headers.contains_key("payment-required"));
        assert_eq!(shop.porter.calls(), ["verify", "prepare", "settle"]);
    }
}

/// The same payment with the payer's own identifier for it.
fn identified(credential: &str, identifier: &str) -> String {
    let mut payload = decoded(credential.as_bytes());
    payload["extensions"]["payment-identifier"]["info"]["id"] = identifier.into();
    receipt::header(payload.to_string().as_bytes())
}

#[test]
fn an_identified_payment_pays_for_the_challenged_order() {
    let shop = Shop::open(Porter::good());
    let asked = shop.post("hello", None);
    let signed = shop.pay(&asked, Network::Base);
    let credential = identified(&signed, "pay_0123456789abcdef");
    let paid = shop.post("hello", Some(&credential));
    assert_eq!(paid.status, 200, "{:?}", body(&paid));
    assert_eq!(body(&paid)["id"], body(&asked)["public_order_id"]);
    // Nor is the same body asked to pay again.
    for credential in [Some(credential.as_str()), Some(signed.as_str()), None] {
        let again = shop.post("hello", credential);
        assert_eq!((again.status.as_u16(), body(&again)), (200, body(&paid)));
    }
    // The identifier is this card's.
    let fresh = shop.pay(&shop.post("another card", None), Network::Base);
    let other = shop.post("another card", Some(&identified(&fresh, "pay_0123456789abcdef")));
    assert_eq!(other.status, 409);
    assert_eq!(body(&other)["error"]["code"], "payment_identifier_conflict");
    assert_eq!(shop.porter.calls(), ["verify", "prepare", "settle"]);
}

#[test]
fn a_credential_that_reads_as_nothing_is_one_that_does_not_hold() {
    let shop = Shop::open(Porter::good());
    for garbage in ["garbage!", "e30=", "bm8=", "eyJ4NDAyVmVyc2lvbiI6MX0="] {
        let answer = shop.post("hello", Some(garbage));
        assert_eq!((answer.status.as_u16(), answer.body.as_slice()), (402, &b"{}"[..]));
        let challenge = decoded(answer.headers["payment-required"].as_bytes());
        assert!(challenge["error"].as_str().unwrap().starts_with("invalid_"), "{challenge}");
    }
    assert!(shop.porter.calls().is_empty());
}

#[test]
fn a_missing_allowance_consumes_nothing() {
    let shop = Shop::open(Porter { verified: Err(Rejection::AllowanceMissing), ..Porter::good() });
    let credential = shop.pay(&shop.post("hello", None), Network::Base);
    for _ in 0..2 {
        let answer = shop.post("hello", Some(&credential));
        assert_eq!(answer.status, 412);
    }
    assert_eq!(shop.porter.calls(), ["verify", "verify"]);
}

#[test]
fn a_silence_before_anything_moved_is_told_as_passing_and_the_same_payment_pays_after_it() {
    for porter in [
        Porter { verified: Err(Rejection::Unavailable), ..Porter::good() },
        Porter { prepared: Err(Rejection::Unavailable), ..Porter::good() },
    ] {
        let mut shop = Shop::open(porter);
        let credential = shop.pay(&shop.post("hello", None), Network::Base);
        let silent = shop.post("hello", Some(&credential));
        assert_eq!(silent.status, 503);
        assert_eq!(silent.headers["retry-after"], "5");
        let error = &body(&silent)["error"];
        assert_eq!(error["retry"], "same");
        assert!(error["message"].as_str().unwrap().contains("at the moment"), "{error}");
        (shop.x402, shop.porter) = x402(Porter::good());
        assert_eq!(shop.post("hello", Some(&credential)).status, 200);
    }
}

#[test]
fn money_that_did_not_move_is_402_and_money_in_doubt_never_is() {
    let refusing = Porter { settled: Err(Unsettled::Refused("no".into())), ..Porter::good() };
    let shop = Shop::open(refusing);
    let credential = shop.pay(&shop.post("hello", None), Network::Polygon);
    let declined = shop.post("hello", Some(&credential));
    assert_eq!((declined.status.as_u16(), declined.body.as_slice()), (402, &b"{}"[..]));
    let receipt = decoded(declined.headers["payment-response"].as_bytes());
    assert_eq!((&receipt["success"], &receipt["network"]), (&json!(false), &json!("eip155:137")));
    assert!(!declined.headers.contains_key("payment-required"));

    let lost = Failure::Lost("cut".into());
    let losing = Porter { settled: Err(lost.clone().into()), traced: Err(lost), ..Porter::good() };
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
