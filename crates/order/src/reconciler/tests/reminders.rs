//! Alerts about orders that only a person can make good, repeated every day.

use std::sync::Mutex;

use super::*;
use crate::lifecycle::Standing;
use crate::reconciler::alert::{Alert, AlertKind};
use crate::testing::fakes::chain::PayerReaction;

const DAY: u64 = 24 * 60 * 60;

/// A shop with one mailed card.
struct Shop {
    world: Arc<FakeWorld>,
    still: ManualTime,
    process: FakeProcess,
    order: OrderId,
}

impl Shop {
    fn open() -> Self {
        let still = ManualTime::default();
        let world = FakeWorld::new(
            Box::new(ExhaustiveFaults::default()),
            Box::new(still.clone()),
            PROMISES,
        );
        let process = world.process();
        let (order, _) = buy(&world, &process, 1);
        Self { world, still, process, order }
    }

    /// What a person is told in this time.
    fn alerts(&self, seconds: u64) -> Vec<AlertKind> {
        let told = Mutex::new(Vec::new());
        let tell = |alert: Alert| told.lock().unwrap().push(alert.kind);
        for _ in 0..seconds / 60 {
            self.still.advance(60);
            poll_once(self.process.reconcile(&self.world.tenders(), &tell)).unwrap().unwrap();
        }
        told.into_inner().unwrap()
    }
}

#[test]
fn an_undelivered_card_is_told_every_day() {
    let shop = Shop::open();
    shop.world.provider.lock().unwrap().mailpieces[0].cancelled = true;
    assert_eq!(shop.alerts(DAY - 60), [AlertKind::Undelivered]);
    // A crash may have taken the first one.
    assert_eq!(shop.alerts(90 * DAY).len(), 90);
}

#[test]
fn the_credential_of_a_card_that_failed_at_once_is_deleted_when_its_payment_is_final() {
    let shop = Shop::open();
    let Some(Stored::Mailed(mailed)) = shop.world.store.get(shop.order) else { panic!() };
    assert_eq!(mailed.state.paid.standing, Standing::Provisional);
    assert!(!mailed.state.paid.payment.authorization.credential.0.is_empty());
    shop.world.store.restore(mailed.undelivered(shop.world.time()).into());
    assert_eq!(shop.alerts(DAY), [AlertKind::Undelivered]);
    let Some(Stored::Unfulfilled(order)) = shop.world.store.get(shop.order) else { panic!() };
    let paid = order.state.shortfall.paid();
    assert_eq!(paid.standing, Standing::Final);
    assert!(paid.payment.authorization.credential.0.is_empty());
    assert_eq!(shop.world.chain.lock().unwrap().transfers.len(), 1);
}

#[test]
fn money_that_the_chain_took_back_is_told_every_day() {
    let shop = Shop::open();
    // The card can be stopped for no time at all.
    shop.still.advance(1);
    let now = shop.world.time();
    shop.world.chain.lock().unwrap().reorganise(now, PayerReaction::CancelAuthorization);
    assert_eq!(shop.alerts(DAY - 60), [AlertKind::Reversed]);
    let Some(Stored::Mailed(order)) = shop.world.store.get(shop.order) else { panic!() };
    assert_eq!(order.state.paid.standing, Standing::Reversed);
    let told = shop.alerts(90 * DAY);
    assert_eq!(told, vec![AlertKind::Reversed; 90]);
}
