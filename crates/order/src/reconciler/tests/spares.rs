//! A second card for one order is cancelled, and never by a worker whose claim is old.

use super::*;
use crate::model::mail::Mailpiece;

/// A mailed card and a second one for the same order.
fn shop() -> (Arc<FakeWorld>, FakeProcess, Stored) {
    let still = Box::new(ManualTime::default());
    let world = FakeWorld::new(Box::new(ExhaustiveFaults::default()), still, PROMISES);
    let process = world.process();
    let (order, _) = buy(&world, &process, 1);
    let mut provider = world.provider.lock().unwrap();
    let mut spare = provider.mailpieces[0].clone();
    spare.id = Mailpiece("spare".into());
    provider.mailpieces.push(spare);
    drop(provider);
    let mailed = world.store.get(order).unwrap();
    (world, process, mailed)
}

fn examine(world: &Arc<FakeWorld>, process: &FakeProcess, order: Stored) -> bool {
    let tenders = world.tenders();
    poll_once(process.reconciler.examine(&tenders, order)).unwrap().is_ok()
}

#[test]
fn a_second_card_is_cancelled_while_that_is_possible() {
    let (world, process, mailed) = shop();
    let order = mailed.id();
    assert!(examine(&world, &process, mailed));
    assert_eq!(world.provider.lock().unwrap().live(order), 1);
}

#[test]
fn a_worker_that_stood_still_cancels_nothing() {
    let (world, process, stale) = shop();
    let mut changed = stale.clone();
    changed.set_version(stale.version() + 1);
    world.store.restore(changed);
    let order = stale.id();
    assert!(!examine(&world, &process, stale));
    assert_eq!(world.provider.lock().unwrap().live(order), 2);
}
