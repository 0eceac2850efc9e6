//! Orders that are open at one provider when the operator changes to another one.

use std::sync::Mutex;

use super::*;
use crate::model::mail::ProviderAccount;
use crate::reconciler::alert::{Alert, AlertKind};
use crate::testing::fakes::chain::PayerReaction;
use crate::testing::fakes::fault_schedule::{EFFECT_FAULTS, FaultSchedule, SimulatedFault};

const HOUR: u64 = 60 * 60;

/// The second deed, which is the card's submission, ends like this; all others work.
struct SecondDeed(SimulatedFault, u32);

impl FaultSchedule for SecondDeed {
    fn choose(&mut self, options: &[SimulatedFault]) -> SimulatedFault {
        if options != EFFECT_FAULTS {
            return options[0];
        }
        self.1 += 1;
        if self.1 == 2 { self.0 } else { options[0] }
    }
}

/// A shop with a provider, and another provider that promises to mail the same order once.
struct Shop {
    world: Arc<FakeWorld>,
    still: ManualTime,
    other: Arc<FakeWorld>,
    /// After the change.
    changed: FakeProcess,
    order: OrderId,
}

impl Shop {
    /// One card is paid for, and its submission to the first provider ends like this.
    fn after(fate: SimulatedFault) -> Self {
        let still = ManualTime::default();
        let pace = || Box::new(still.clone());
        let world = FakeWorld::new(Box::new(SecondDeed(fate, 0)), pace(), PROMISES);
        let once = Promises { idempotent_seconds: Some(24 * HOUR), ..PROMISES };
        let other = FakeWorld::new(Box::new(ExhaustiveFaults::default()), pace(), once);
        other.provider.lock().unwrap().account = "another press";
        let (order, _) = buy(&world, &world.process(), 1);
        let changed = FakeProcess::with_provider(&world, other.clone());
        Self { world, still, other, changed, order }
    }

    fn rounds(&self, process: &FakeProcess, seconds: u64) -> Vec<Alert> {
        let alerts = Mutex::new(Vec::new());
        let tell = |alert| alerts.lock().unwrap().push(alert);
        for _ in 0..seconds / 10 {
            self.still.advance(10);
            poll_once(process.reconcile(&self.world.tenders(), &tell)).unwrap().unwrap();
        }
        alerts.into_inner().unwrap()
    }

    fn cards(&self) -> (usize, usize) {
        let live = |world: &FakeWorld| world.provider.lock().unwrap().live(self.order);
        (live(&self.world), live(&self.other))
    }

    fn state(&self) -> &'static str {
        self.world.store.get(self.order).unwrap().headline()
    }
}

#[test]
fn a_card_whose_answer_was_lost_is_not_submitted_to_another_provider() {
    for fate in [SimulatedFault::LostAfter, SimulatedFault::LostBefore, SimulatedFault::Late] {
        let shop = Shop::after(fate);
        // As when its list fails: the card is not found before the change.
        let alerts = shop.rounds(&shop.changed, 3 * HOUR);
        assert_eq!((shop.state(), shop.cards().1), ("unfulfilled_lost", 0), "{fate:?}");
        let in_doubt = Alert { order: shop.order, kind: AlertKind::CardInDoubt };
        assert!(alerts.contains(&in_doubt), "{fate:?}: {alerts:?}");
        // The first provider is configured again, and shows what became of it.
        shop.rounds(&shop.world.process(), HOUR);
        let expected =
            if fate == SimulatedFault::LostBefore { "unfulfilled_lost" } else { "mailed" };
        assert_eq!(shop.state(), expected, "{fate:?}");
        assert_eq!(shop.cards(), (usize::from(fate != SimulatedFault::LostBefore), 0), "{fate:?}");
    }
}

#[test]
fn a_card_that_was_refused_is_submitted_to_the_other_provider() {
    let shop = Shop::after(SimulatedFault::Refused);
    shop.rounds(&shop.changed, HOUR);
    assert_eq!((shop.state(), shop.cards()), ("mailed", (0, 1)));
}

#[test]
fn a_card_that_was_mailed_after_the_backup_is_found_when_the_backup_is_restored() {
    let shop = Shop::after(SimulatedFault::Refused);
    let backup = shop.world.store.get(shop.order).unwrap();
    assert_eq!(backup.headline(), Stored::REFUSED_CARD);
    shop.rounds(&shop.world.process(), HOUR);
    assert_eq!((shop.state(), shop.cards()), ("mailed", (1, 0)));
    shop.world.store.restore(backup);
    shop.rounds(&shop.world.process(), HOUR);
    assert_eq!((shop.state(), shop.cards()), ("mailed", (1, 0)));
}

#[test]
fn a_mailed_card_is_followed_at_its_own_provider_only() {
    let shop = Shop::after(SimulatedFault::None);
    shop.rounds(&shop.changed, 6 * HOUR);
    let Some(Stored::Mailed(order)) = shop.world.store.get(shop.order) else { panic!() };
    assert_eq!(order.state.delivery.stage, crate::model::mail::Stage::Accepted);
    shop.still.advance(24 * HOUR);
    shop.rounds(&shop.world.process(), HOUR);
    let Some(Stored::Mailed(order)) = shop.world.store.get(shop.order) else { panic!() };
    assert_eq!(order.state.delivery.stage, crate::model::mail::Stage::Delivered);
}

#[test]
fn money_that_is_gone_for_a_card_elsewhere_is_told_at_once_with_the_providers_name() {
    let shop = Shop::after(SimulatedFault::None);
    shop.still.advance(1);
    let now = shop.world.time();
    shop.world.chain.lock().unwrap().reorganise(now, PayerReaction::CancelAuthorization);
    let account = shop.world.provider.lock().unwrap().account;
    let kind = AlertKind::ReversedElsewhere(Some(ProviderAccount(account.to_owned())));
    let alert = Alert { order: shop.order, kind };
    let at_once = shop.rounds(&shop.changed, HOUR / 6);
    assert_eq!(at_once, std::slice::from_ref(&alert));
    let later = shop.rounds(&shop.changed, 24 * HOUR);
    assert!((2..=4).contains(&later.len()) && later.iter().all(|one| *one == alert), "{later:?}");
    // The card can be stopped once its provider is configured again.
    assert_eq!((shop.state(), shop.cards()), ("mailed", (1, 0)));
}
