//! One card, two ways of paying: one order and one charge, whichever comes first.

use http::{HeaderMap, HeaderName};
use order::checkout::{Desk, Request};
use order::model::mail::Promises;
use order::testing::fakes::cards::card;
use order::testing::fakes::fates::EveryFate;
use order::testing::fakes::still::Still;
use order::testing::fakes::world::World;

use super::*;
use crate::envelope::{Envelope, Sealed};
use crate::x402::X402;
use crate::x402::samples as upto;

const PROMISES: Promises =
    Promises { idempotent_seconds: None, cancel_seconds: 3_600, visibility_lag_seconds: 0 };

/// One desk with two doors.
struct Shop {
    desk: Desk,
    mpp: Mpp,
    mpp_porter: Arc<Porter>,
    x402: X402,
    x402_porter: Arc<upto::Porter>,
}

impl Shop {
    fn open(mpp_porter: Porter, x402_porter: upto::Porter) -> Self {
        let still = Box::new(Still::default());
        let world = World::new(Box::new(EveryFate::default()), still, PROMISES);
        let (mpp, mpp_porter) = mpp(mpp_porter);
        let (x402, x402_porter) = upto::x402(x402_porter);
        Self { desk: world.desk(), mpp, mpp_porter, x402, x402_porter }
    }

    fn post(&self, door: &dyn Envelope, brings: Option<(&'static str, &str)>) -> Sealed {
        let headers =
            brings.map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        let opened = door.open(&HeaderMap::from_iter(headers), BODY).unwrap();
        let request = Request {
            seller: None,
            operation_id: None,
            card: card("hello"),
            credential: opened.credential,
        };
        let said = drive(self.desk.send(door, request)).unwrap();
        door.seal(&said, &CONTEXT)
    }

    fn by_mpp(&self) -> (&'static str, String) {
        let asked = self.post(&self.mpp, None);
        let challenge = asked.headers["www-authenticate"].to_str().unwrap();
        ("authorization", authorization(&Payer::new().answer(challenge, Nonce::Packed)))
    }

    fn by_x402(&self) -> (&'static str, String) {
        let asked = self.post(&self.x402, None);
        let challenge = decoded(asked.headers["payment-required"].as_bytes());
        let payload = Payer::new().pay(&challenge, Network::Base, NOW);
        ("payment-signature", payment_signature(&payload))
    }

    fn settlements(&self) -> usize {
        let calls = [self.mpp_porter.calls(), self.x402_porter.calls()].concat();
        calls.iter().filter(|call| **call == "settle").count()
    }
}

fn id(sealed: &Sealed) -> Value {
    let body: Value = serde_json::from_slice(&sealed.body).unwrap();
    body.get("id").or(body.get("public_order_id")).unwrap().clone()
}

#[test]
fn both_doors_speak_of_the_same_order() {
    let shop = Shop::open(Porter::good(), upto::Porter::good());
    assert_eq!(id(&shop.post(&shop.mpp, None)), id(&shop.post(&shop.x402, None)));
}

#[test]
fn what_one_door_was_paid_for_the_other_answers_for() {
    let shop = Shop::open(Porter::good(), upto::Porter::good());
    let ((mpp, by_mpp), (x402, by_x402)) = (shop.by_mpp(), shop.by_x402());
    let paid = shop.post(&shop.mpp, Some((mpp, &by_mpp)));
    assert_eq!(paid.status, 200);
    for brings in [Some((x402, by_x402.as_str())), None] {
        let again = shop.post(&shop.x402, brings);
        assert_eq!((again.status.as_u16(), id(&again)), (200, id(&paid)));
        assert!(!again.headers.contains_key("payment-response"));
    }
    assert_eq!(shop.settlements(), 1);

    let shop = Shop::open(Porter::good(), upto::Porter::good());
    let ((mpp, by_mpp), (x402, by_x402)) = (shop.by_mpp(), shop.by_x402());
    let paid = shop.post(&shop.x402, Some((x402, &by_x402)));
    assert_eq!(paid.status, 200);
    // Also with x402's own credential, which is not one of this door's.
    for brings in [Some((mpp, by_mpp.as_str())), Some((x402, &by_x402)), None] {
        let again = shop.post(&shop.mpp, brings);
        assert_eq!((again.status.as_u16(), id(&again)), (200, id(&paid)));
        assert!(!again.headers.contains_key("payment-receipt"));
    }
    assert_eq!(shop.settlements(), 1);
}

#[test]
fn while_one_way_is_in_doubt_the_other_invites_nobody() {
    let lost = Failure::Lost("cut".into());
    let losing =
        Porter { settled: Err(lost.clone().into()), traced: Err(lost.clone()), ..Porter::good() };
    let shop = Shop::open(losing, upto::Porter::good());
    let ((mpp, by_mpp), (x402, by_x402)) = (shop.by_mpp(), shop.by_x402());
    assert_eq!(shop.post(&shop.mpp, Some((mpp, &by_mpp))).status, 502);
    for brings in [Some((x402, by_x402.as_str())), None] {
        assert_eq!(shop.post(&shop.x402, brings).status, 409);
    }
    assert_eq!(shop.settlements(), 1);

    let losing = upto::Porter {
        settled: Err(lost.clone().into()),
        traced: Err(lost),
        ..upto::Porter::good()
    };
    let shop = Shop::open(Porter::good(), losing);
    let ((mpp, by_mpp), (x402, by_x402)) = (shop.by_mpp(), shop.by_x402());
    assert_eq!(shop.post(&shop.x402, Some((x402, &by_x402))).status, 502);
    for brings in [Some((mpp, by_mpp.as_str())), None] {
        let answer = shop.post(&shop.mpp, brings);
        assert_eq!(answer.status, 409);
        assert!(!answer.headers.contains_key("www-authenticate"));
    }
    assert_eq!(shop.settlements(), 1);
}

#[test]
fn a_promise_of_x402_is_no_transfer_of_this_door() {
    let shop = Shop::open(Porter::good(), upto::Porter::good());
    let (x402, by_x402) = shop.by_x402();
    let answer = shop.post(&shop.mpp, Some((x402, &by_x402)));
    assert_eq!(answer.status, 402);
    assert_eq!(shop.settlements(), 0);
}
