//! A payment that belongs to one order, brought for another.

use std::sync::Mutex;

use super::*;
use crate::testing::fakes::intercepted_tender::{InterceptedTender, Interceptor, SessionCall};
use crate::testing::fakes::tender::FakeTender;

/// A quote that a paid order does not depend on.
const NOT_OURS: &str = "0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f";

const RAILS: [TenderKind; 2] = [TenderKind::X402, TenderKind::Mpp];

#[test]
fn one_authorization_pays_for_one_card_and_for_another_nobody_is_asked() {
    for rail in RAILS {
        let (world, _) = good_world();
        let (process, till) = (world.process(), world.tender(rail));
        let signed = promise(&world, 1).credential();
        let paid = poll_once(process.send(&till, request("hello", Some(signed.clone())))).unwrap();
        assert!(matches!(paid, Ok(Outcome::Paid { .. })), "{paid:?}");
        // Whatever the provider would say of the other card, it is not asked.
        world.provider.lock().unwrap().total = Cents(0);
        let again = poll_once(process.send(&till, request("goodbye", Some(signed)))).unwrap();
        assert_eq!(again, Err(Refusal::PaymentBoundElsewhere), "{rail:?}");
        assert_eq!(world.chain.lock().unwrap().transfers.len(), 1);
        // The other card is still to be had, with a payment of its own.
        world.provider.lock().unwrap().total = Cents(200);
        let fresh = promise(&world, 2).credential();
        let paid = poll_once(process.send(&till, request("goodbye", Some(fresh)))).unwrap();
        assert!(matches!(paid, Ok(Outcome::Paid { .. })), "{paid:?}");
    }
}

#[test]
fn a_payment_that_came_to_nothing_stays_with_its_order() {
    let (world, _) = good_world();
    let process = world.process();
    let signed = promise(&world, 1).credential();
    let refusing = SpentElsewhere::new(&world, TenderKind::X402);
    let refusing = SpentElsewhere { at: SessionCall::Settle, ..refusing }.tender(&world);
    let declined =
        poll_once(process.send(&refusing, request("hello", Some(signed.clone())))).unwrap();
    assert!(matches!(declined, Err(Refusal::PaymentDeclined { .. })), "{declined:?}");
    let other = send(&world, &process, request("goodbye", Some(signed.clone())));
    assert_eq!(other, Err(Refusal::PaymentBoundElsewhere));
    let own = send(&world, &process, request("hello", Some(signed)));
    assert!(matches!(own, Ok(Outcome::Paid { .. })), "{own:?}");
}

#[test]
fn a_payment_that_is_spent_elsewhere_while_it_is_checked_is_no_invitation() {
    for (rail, at) in RAILS
        .into_iter()
        .flat_map(|rail| [SessionCall::Verify, SessionCall::Prepare].map(|step| (rail, step)))
    {
        let (world, _) = good_world();
        let signed = promise(&world, 1).credential();
        let elsewhere = Some((world.process(), request("hello", Some(signed.clone()))));
        let spender =
            SpentElsewhere { at, elsewhere: elsewhere.into(), ..SpentElsewhere::new(&world, rail) }
                .tender(&world);
        let said =
            poll_once(world.process().send(&spender, request("goodbye", Some(signed)))).unwrap();
        assert_eq!(said, Err(Refusal::PaymentBoundElsewhere), "{rail:?} {at:?}");
        assert_eq!(world.chain.lock().unwrap().transfers.len(), 1);
    }
}

/// Fails one call, or makes it, after another process has spent the authorization.
pub(super) struct SpentElsewhere {
    tender: FakeTender,
    at: SessionCall,
    result: Result<(), &'static str>,
    elsewhere: Mutex<Option<(FakeProcess, Request)>>,
}

impl SpentElsewhere {
    fn new(world: &Arc<FakeWorld>, rail: TenderKind) -> Self {
        let (at, result) = (SessionCall::Verify, Err("the nonce is used"));
        Self { tender: world.tender(rail), at, result, elsewhere: Mutex::default() }
    }

    fn tender(self, world: &Arc<FakeWorld>) -> InterceptedTender<Self> {
        InterceptedTender { tender: world.tender(self.tender.kind), interceptor: self }
    }

    /// Fails no call, and lets another process pay while this one verifies.
    pub(super) fn while_verified(
        world: &Arc<FakeWorld>,
        elsewhere: (FakeProcess, Request),
    ) -> InterceptedTender<Self> {
        let spent = Self::new(world, TenderKind::X402);
        Self { result: Ok(()), elsewhere: Some(elsewhere).into(), ..spent }.tender(world)
    }

    /// Fails no call, and lets another process pay while this one prepares.
    pub(super) fn interrupted(
        world: &Arc<FakeWorld>,
        elsewhere: (FakeProcess, Request),
    ) -> InterceptedTender<Self> {
        let spent = Self::new(world, TenderKind::X402);
        let elsewhere = Some(elsewhere).into();
        Self { at: SessionCall::Prepare, result: Ok(()), elsewhere, ..spent }.tender(world)
    }
}

#[async_trait]
impl Interceptor for SpentElsewhere {
    async fn before(&self, call: SessionCall, _: CredentialDigest) -> Result<(), String> {
        if self.at != call {
            return Ok(());
        }
        let elsewhere = self.elsewhere.lock().unwrap().take();
        if let Some((process, request)) = elsewhere {
            process.send(&self.tender, request).await.unwrap();
        }
        self.result.map_err(str::to_owned)
    }
}

/// Lets another process take the same request while this one is about to settle.
struct AskedMeanwhile {
    process: FakeProcess,
    tender: FakeTender,
    request: Mutex<Option<Request>>,
    answer: Mutex<Option<Result<Outcome, Refusal>>>,
}

#[async_trait]
impl Interceptor for AskedMeanwhile {
    async fn before(&self, call: SessionCall, _: CredentialDigest) -> Result<(), String> {
        let request = self.request.lock().unwrap().take_if(|_| call == SessionCall::Settle);
        if let Some(request) = request {
            let answer = self.process.send(&self.tender, request).await;
            *self.answer.lock().unwrap() = Some(answer);
        }
        Ok(())
    }
}

#[test]
fn a_payment_that_another_process_is_settling_is_neither_traced_nor_settled() {
    for (rail, quote) in RAILS.into_iter().flat_map(|rail| [(rail, None), (rail, Some(NOT_OURS))]) {
        let (world, _) = good_world();
        let signed = promise(&world, 1).credential();
        let same = || request("hello", Some(signed.clone()));
        let quote = quote.map(|id| id.parse().unwrap());
        let interceptor = AskedMeanwhile {
            process: world.process(),
            tender: world.tender(rail),
            request: Some(Request { quote, ..same() }).into(),
            answer: Mutex::default(),
        };
        let tender = InterceptedTender { tender: world.tender(rail), interceptor };
        let paid = poll_once(world.process().send(&tender, same())).unwrap();
        let order = order_of(&paid);
        let answer = tender.interceptor.answer.lock().unwrap().take();
        assert_eq!(answer, Some(Err(Refusal::PaymentUnconfirmed(order))), "{rail:?}");
        let chain = world.chain.lock().unwrap();
        assert_eq!((chain.settle_calls, chain.transfers.len()), (1, 1), "{rail:?}");
    }
}
