//! From the first request to the second answer, before the real desk.

use http::{HeaderMap, HeaderName};
use order::checkout::{Desk, Request};
use order::model::mail::Promises;
use order::testing::fakes::cards::card;
use order::testing::fakes::fates::EveryFate;
use order::testing::fakes::still::Still;
use order::testing::fakes::world::World;

use super::*;
use crate::envelope::{Envelope, Sealed};

const PROMISES: Promises =
    Promises { idempotent_seconds: None, cancel_seconds: 3_600, visibility_lag_seconds: 0 };

struct Shop {
    desk: Desk,
    mpp: Mpp,
    porter: Arc<Porter>,
    time: Still,
}

impl Shop {
    fn open(porter: Porter) -> Self {
        let time = Still::default();
        let world = World::new(Box::new(EveryFate::default()), Box::new(time.clone()), PROMISES);
        let (mpp, porter) = mpp(porter);
        Self { desk: world.desk(), mpp, porter, time }
    }

    /// What the web does between the socket and the desk.
    fn post(&self, message: &str, brings: &[(&'static str, &str)]) -> Sealed {
        let mut headers = HeaderMap::new();
        for (name, value) in brings {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        let body = message.as_bytes();
        let opened = match self.mpp.open(&headers, body) {
            Ok(opened) => opened,
            Err(muddle) => return self.mpp.turn_away(&muddle),
        };
        let brought =
            if opened.credential.is_some() { Brought::Credential } else { Brought::Nothing };
        let (reader, operation_id) = (opened.reader, None);
        let (card, credential) = (card(message), opened.credential);
        let request = Request { seller: None, operation_id, card, credential };
        let said = drive(self.desk.send(&self.mpp, request)).unwrap();
        let now = self.desk.clock.now();
        self.mpp.seal(&said, &Context { reader, brought, body, now })
    }

    fn pay(&self, asked: &Sealed, nonce: Nonce) -> String {
        let challenge = asked.headers["www-authenticate"].to_str().unwrap();
        authorization(&Payer::new().answer(challenge, nonce))
    }
}

fn body(sealed: &Sealed) -> Value {
    serde_json::from_slice(&sealed.body).unwrap()
}

fn kind(sealed: &Sealed) -> String {
    let kind = body(sealed)["type"].as_str().unwrap().to_owned();
    kind.trim_start_matches("https://paymentauth.org/problems/").to_owned()
}

/// Asked to pay, and able to.
fn is_invited(sealed: &Sealed) -> bool {
    let asked = sealed.headers.contains_key("www-authenticate");
    assert_eq!(asked, sealed.headers.contains_key("payment-required"));
    assert_eq!(asked, sealed.status == 402);
    asked
}

#[test]
fn a_card_is_asked_for_paid_once_and_answered_for_again() {
    for nonce in [Nonce::Packed, Nonce::Framed] {
        let shop = Shop::open(Porter::good());
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

        // The same credential gets the same bytes, wherever it stands and whenever it comes.
        shop.time.advance(86_400);
        for name in ["authorization", "payment-authorization", "payment-signature"] {
            let again = shop.post("hello", &[(name, &credential)]);
            assert_eq!((again.status.as_u16(), body(&again)), (200, body(&paid)));
            assert_eq!(&again.headers["payment-receipt"], receipt);
            assert_eq!(again.headers["cache-control"], "private");
        }
        // So does every other repeat, and none is asked to pay again.
        for other in
            [&[][..], &[("authorization", "Payment e30")], &[("authorization", "Bearer a")]]
        {
            let again = shop.post("hello", other);
            assert_eq!((again.status.as_u16(), body(&again)), (200, body(&paid)));
            assert_eq!(&again.headers["payment-receipt"], receipt);
        }
        assert_eq!(shop.porter.calls(), ["verify", "prepare", "settle"]);
    }
}

#[test]
fn a_credential_for_one_card_buys_no_other() {
    let shop = Shop::open(Porter::good());
    let credential = shop.pay(&shop.post("hello", &[]), Nonce::Packed);
    for _ in 0..2 {
        let other = shop.post("another card", &[("authorization", &credential)]);
        assert!(is_invited(&other));
        assert_eq!(kind(&other), "invalid-challenge");
        assert_eq!(shop.post("hello", &[("authorization", &credential)]).status, 200);
    }
    assert_eq!(shop.porter.calls(), ["verify", "prepare", "settle"]);
}

#[test]
fn a_payload_of_x402_pays_once_and_has_both_receipts() {
    let shop = Shop::open(Porter::good());
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

    // Its nonce is the payer's own: it belongs to the order that it first paid for.
    let other = shop.post("another card", &[("payment-signature", &payload)]);
    assert_eq!((other.status.as_u16(), kind(&other).as_str()), (409, "verification-failed"));
    assert_eq!(body(&other)["error"]["code"], "payment_bound_elsewhere");
    assert!(!is_invited(&other));
    assert_eq!(shop.porter.calls(), ["verify", "prepare", "settle"]);
}

#[test]
fn a_challenge_with_two_nonces_is_used_once() {
    let shop = Shop::open(Porter::good());
    let asked = shop.post("hello", &[]);
    let (packed, framed) = (shop.pay(&asked, Nonce::Packed), shop.pay(&asked, Nonce::Framed));
    let paid = shop.post("hello", &[("authorization", &packed)]);
    assert_eq!(paid.status, 200);
    let again = shop.post("hello", &[("authorization", &framed)]);
    assert_eq!(again.status, 200);
    assert_eq!(again.headers["payment-receipt"], paid.headers["payment-receipt"]);
    assert_eq!(shop.porter.calls(), ["verify", "prepare", "settle"]);
}

#[test]
fn what_does_not_hold_is_asked_for_anew() {
    let shop = Shop::open(Porter::good());
    let asked = shop.post("hello", &[]);
    let mut ids = vec![body(&asked)["challengeId"].clone()];
    for (name, value, flaw) in [
        ("authorization", "Payment !", "malformed-credential"),
        ("authorization", "Payment", "malformed-credential"),
        ("payment-authorization", "Bearer a", "malformed-credential"),
        ("payment-signature", "e30=", "malformed-credential"),
        ("authorization", "Payment eyJjaGFsbGVuZ2UiOnt9LCJwYXlsb2FkIjp7fX0", "invalid-challenge"),
    ] {
        let answer = shop.post("hello", &[(name, value)]);
        assert!(is_invited(&answer), "{value}");
        assert_eq!(kind(&answer), flaw, "{value}");
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
    assert!(shop.porter.calls().is_empty());
}

#[test]
fn a_challenge_that_ran_out_is_told_so() {
    let shop = Shop::open(Porter::good());
    let credential = shop.pay(&shop.post("hello", &[]), Nonce::Packed);
    shop.time.advance(600);
    let late = shop.post("hello", &[("authorization", &credential)]);
    assert!(is_invited(&late));
    assert_eq!(kind(&late), "payment-expired");
    assert!(shop.porter.calls().is_empty());
}

#[test]
fn a_silence_before_anything_moved_is_told_as_passing_and_the_same_payment_pays_after_it() {
    for porter in [
        Porter { verified: Err(Rejection::Unavailable), ..Porter::good() },
        Porter { prepared: Err(Rejection::Unavailable), ..Porter::good() },
    ] {
        let mut shop = Shop::open(porter);
        let credential = shop.pay(&shop.post("hello", &[]), Nonce::Packed);
        let silent = shop.post("hello", &[("authorization", &credential)]);
        assert!(!is_invited(&silent));
        assert_eq!(silent.status, 503);
        assert_eq!(silent.headers["retry-after"], "5");
        assert_eq!(body(&silent)["error"]["retry"], "same");
        let detail = body(&silent)["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains("at the moment"), "{detail}");
        (shop.mpp, shop.porter) = mpp(Porter::good());
        assert_eq!(shop.post("hello", &[("authorization", &credential)]).status, 200);
    }
}

#[test]
fn money_that_did_not_move_is_402_and_money_in_doubt_never_is() {
    let refusing = Porter { settled: Err(Unsettled::Refused("reverted".into())), ..Porter::good() };
    let shop = Shop::open(refusing);
    let credential = shop.pay(&shop.post("hello", &[]), Nonce::Packed);
    let declined = shop.post("hello", &[("authorization", &credential)]);
    assert!(is_invited(&declined));
    assert_eq!(kind(&declined), "verification-failed");
    assert_eq!(body(&declined)["error"]["code"], "settlement_failed");

    let lost = Failure::Lost("cut".into());
    let losing = Porter { settled: Err(lost.clone().into()), traced: Err(lost), ..Porter::good() };
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
fn a_lost_answer_is_found_again_with_its_receipt_and_nobody_pays_twice() {
    let lost = Porter { settled: Err(Unsettled::Lost("cut".into())), ..Porter::good() };
    let shop = Shop::open(lost);
    let credential = shop.pay(&shop.post("hello", &[]), Nonce::Framed);
    assert_eq!(shop.post("hello", &[("authorization", &credential)]).status, 502);
    // The client that lost the answer sends the same again, or starts over.
    let found = shop.post("hello", &[("authorization", &credential)]);
    assert_eq!(found.status, 200, "{:?}", body(&found));
    assert!(found.headers.contains_key("payment-receipt"));
    let fresh = shop.post("hello", &[]);
    assert_eq!((fresh.status.as_u16(), body(&fresh)), (200, body(&found)));
    assert_eq!(shop.porter.calls(), ["verify", "prepare", "settle", "trace"]);
}
