//! Looks in vain: they leave what is told of an order as it was, and the time of its last change.

use super::*;
use crate::refusal::Refusal;
use crate::status::{Status, View};
use crate::testing::fakes::fault_schedule::{EFFECT_FAULTS, FaultSchedule, SimulatedFault};

const HOUR: u64 = 60 * 60;

/// The deed of this number and all that follow end like this; those before work.
struct FromDeed(SimulatedFault, u32);

impl FaultSchedule for FromDeed {
    fn choose(&mut self, options: &[SimulatedFault]) -> SimulatedFault {
        if options != EFFECT_FAULTS {
            return options[0];
        }
        self.1 = self.1.saturating_sub(1);
        if self.1 == 0 { self.0 } else { options[0] }
    }
}

struct Shop {
    world: Arc<FakeWorld>,
    still: ManualTime,
    process: FakeProcess,
}

impl Shop {
    /// From the deed of this number on, each one ends like this.
    fn open(fate: SimulatedFault, from: u32) -> Self {
        let still = ManualTime::default();
        let (fates, pace) = (Box::new(FromDeed(fate, from)), Box::new(still.clone()));
        let world = FakeWorld::new(fates, pace, PROMISES);
        Self { process: world.process(), world, still }
    }

    fn pay(&self, tender: &dyn Tender, signed: &Credential) -> Result<Outcome, Refusal> {
        let (card, credential) = (card("hello"), Some(signed.clone()));
        let request = Request { seller: None, operation_id: None, card, quote: None, credential };
        poll_once(self.process.send(tender, request)).unwrap()
    }

    fn signed(&self) -> Credential {
        let deadline = self.world.time().0 + CREDENTIAL_SECONDS;
        FakeCredential { nonce: 1, most: 3_500_000, deadline, payee: 0xa1 }.credential()
    }

    fn view(&self, order: OrderId) -> View {
        View::of(&self.world.store.get(order).unwrap())
    }

    /// Rounds for so long; each view that differs from the one before.
    fn views(&self, tenders: &Tenders, order: OrderId, seconds: u64) -> Vec<View> {
        let mut views = vec![self.view(order)];
        for _ in 0..seconds / 10 {
            self.still.advance(10);
            poll_once(self.process.reconcile(tenders, &|_| ())).unwrap().unwrap();
            views.push(self.view(order));
        }
        views.dedup();
        views
    }

    fn version(&self, order: OrderId) -> u64 {
        self.world.store.get(order).unwrap().version()
    }
}

#[test]
fn a_vain_look_at_an_unconfirmed_payment_leaves_the_time_of_its_last_change() {
    // The settlement is asked for, and its answer is lost.
    let shop = Shop::open(SimulatedFault::LostBefore, 1);
    let signed = shop.signed();
    let silent = without_trace(&shop.world, signed.digest(), TraceFailure::Fails);
    let said = shop.pay(&*silent, &signed);
    let Err(Refusal::PaymentUnconfirmed(order)) = said else { panic!("{said:?}") };
    let first = shop.view(order);
    assert_eq!(first.status, Status::PaymentUnconfirmed);
    let (silent_only, before) = (Tenders(vec![silent.clone()]), shop.version(order));
    let unchanged = [first.clone()];
    assert_eq!(shop.views(&silent_only, order, HOUR), unchanged, "no answer");
    assert!(shop.version(order) > before, "it was looked at");
    assert_eq!(shop.views(&Tenders(Vec::new()), order, HOUR), unchanged, "closed");
    // The time of each look is in its event.
    let events = poll_once(shop.process.writer().store.events(order)).unwrap().unwrap();
    assert!(events.last().unwrap().at > first.updated_at.unwrap().plus(HOUR));
    // The payer asks too, in vain.
    assert_eq!(shop.pay(&*silent, &signed), Err(Refusal::PaymentUnconfirmed(order)));
    assert_eq!(shop.view(order), first);
    // Once there is an answer, it is told with its time.
    let views = shop.views(&shop.world.tenders(), order, HOUR);
    assert!(views.len() == 2 && views[1].updated_at > first.updated_at, "{views:?}");
    assert_eq!(views[1].status, Status::Unpaid);
}

#[test]
fn a_settlement_that_is_tried_again_in_vain_leaves_the_time_of_its_last_change() {
    let shop = Shop::open(SimulatedFault::LostBefore, 1);
    let said = shop.pay(&shop.world.tender(TenderKind::X402), &shop.signed());
    let Err(Refusal::PaymentUnconfirmed(order)) = said else { panic!("{said:?}") };
    let first = shop.view(order);
    let views = shop.views(&shop.world.tenders(), order, CREDENTIAL_SECONDS / 2);
    assert_eq!(views, [first]);
}

#[test]
fn a_vain_look_for_a_card_leaves_the_time_of_its_last_change() {
    // The second deed is the card's submission.
    let shop = Shop::open(SimulatedFault::LostBefore, 2);
    let (order, _) = buy(&shop.world, &shop.process, 1);
    let first = shop.view(order);
    assert_eq!(first.status, Status::FulfillmentNeedsReconciliation);
    let before = shop.version(order);
    assert_eq!(shop.views(&shop.world.tenders(), order, 3 * HOUR), [first]);
    assert!(shop.version(order) > before, "it was looked for");
}

#[test]
fn a_mailed_card_changes_when_it_comes_further_and_not_at_each_look() {
    let shop = Shop::open(SimulatedFault::None, 1);
    let (order, _) = buy(&shop.world, &shop.process, 1);
    let views = shop.views(&shop.world.tenders(), order, 5 * 24 * HOUR);
    let told: Vec<Status> = views.iter().map(|view| view.status).collect();
    assert_eq!(told, [Status::Submitted, Status::Mailed, Status::Delivered]);
    for view in views {
        assert_eq!(view.delivery.map(|delivery| delivery.at), view.updated_at);
    }
}
