//! One card and two protocols: one order and one charge, whichever protocol is first.

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
use crate::x402::fixture as upto;
use crate::x402::tender::X402;

const PROMISES: Promises =
    Promises { idempotent_seconds: None, cancel_seconds: 3_600, visibility_lag_seconds: 0 };

/// One checkout with both endpoints.
struct Shop {
    process: FakeProcess,
    mpp: Mpp,
    mpp_settler: Arc<FakeSettler>,
    x402: X402,
    x402_settler: Arc<upto::FakeSettler>,
}

impl Shop {
    fn open(mpp_settler: FakeSettler, x402_settler: upto::FakeSettler) -> Self {
        let still = Box::new(ManualTime::default());
        let world = FakeWorld::new(Box::new(ExhaustiveFaults::default()), still, PROMISES);
        let (mpp, mpp_settler) = mpp(mpp_settler);
        let (x402, x402_settler) = upto::x402(x402_settler);
        Self { process: world.process(), mpp, mpp_settler, x402, x402_settler }
    }

    fn post(&self, binding: &dyn HttpBinding, brings: Option<(&'static str, &str)>) -> HttpAnswer {
        let headers =
            brings.map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        let payment = binding.payment_headers(&HeaderMap::from_iter(headers), BODY).unwrap();
        let request = Request {
            seller: None,
            operation_id: None,
            quote: None,
            card: card("hello"),
            credential: payment.credential,
        };
        let result = poll_once(self.process.send(binding, request)).unwrap();
        binding.answer(&result, &CONTEXT)
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
        let calls = [self.mpp_settler.calls(), self.x402_settler.calls()].concat();
        calls.iter().filter(|call| **call == "settle").count()
    }
}

fn id(answer: &HttpAnswer) -> Value {
    let body: Value = serde_json::from_slice(&answer.body).unwrap();
    body.get("id").or(body.get("public_order_id")).unwrap().clone()
}

#[test]
fn both_endpoints_return_the_same_order() {
    let shop = Shop::open(FakeSettler::good(), upto::FakeSettler::good());
    assert_eq!(id(&shop.post(&shop.mpp, None)), id(&shop.post(&shop.x402, None)));
}

#[test]
fn an_order_paid_by_one_protocol_is_answered_200_by_the_other() {
    let shop = Shop::open(FakeSettler::good(), upto::FakeSettler::good());
    let ((mpp, by_mpp), (x402, by_x402)) = (shop.by_mpp(), shop.by_x402());
    let paid = shop.post(&shop.mpp, Some((mpp, &by_mpp)));
    assert_eq!(paid.status, 200);
    for brings in [Some((x402, by_x402.as_str())), None] {
        let again = shop.post(&shop.x402, brings);
        assert_eq!((again.status.as_u16(), id(&again)), (200, id(&paid)));
        assert!(!again.headers.contains_key("payment-response"));
    }
    assert_eq!(shop.settlements(), 1);

    let shop = Shop::open(FakeSettler::good(), upto::FakeSettler::good());
    let ((mpp, by_mpp), (x402, by_x402)) = (shop.by_mpp(), shop.by_x402());
    let paid = shop.post(&shop.x402, Some((x402, &by_x402)));
    assert_eq!(paid.status, 200);
    // Also with the x402 credential, which is not valid at this endpoint.
    for brings in [Some((mpp, by_mpp.as_str())), Some((x402, &by_x402)), None] {
        let again = shop.post(&shop.mpp, brings);
        assert_eq!((again.status.as_u16(), id(&again)), (200, id(&paid)));
        assert!(!again.headers.contains_key("payment-receipt"));
    }
    assert_eq!(shop.settlements(), 1);
}

#[test]
fn while_a_payment_is_in_doubt_the_other_protocol_is_not_answered_402() {
    let lost = Failure::Lost("cut".into());
    let losing = FakeSettler {
        settled: Err(lost.clone().into()),
        traced: Err(lost.clone()),
        ..FakeSettler::good()
    };
    let shop = Shop::open(losing, upto::FakeSettler::good());
    let ((mpp, by_mpp), (x402, by_x402)) = (shop.by_mpp(), shop.by_x402());
    assert_eq!(shop.post(&shop.mpp, Some((mpp, &by_mpp))).status, 502);
    for brings in [Some((x402, by_x402.as_str())), None] {
        assert_eq!(shop.post(&shop.x402, brings).status, 409);
    }
    assert_eq!(shop.settlements(), 1);

    let losing = upto::FakeSettler {
        settled: Err(lost.clone().into()),
        traced: Err(lost),
        ..upto::FakeSettler::good()
    };
    let shop = Shop::open(FakeSettler::good(), losing);
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
fn an_x402_upto_credential_is_rejected_at_the_mpp_endpoint() {
    let shop = Shop::open(FakeSettler::good(), upto::FakeSettler::good());
    let (x402, by_x402) = shop.by_x402();
    let answer = shop.post(&shop.mpp, Some((x402, &by_x402)));
    assert_eq!(answer.status, 402);
    assert_eq!(shop.settlements(), 0);
}
