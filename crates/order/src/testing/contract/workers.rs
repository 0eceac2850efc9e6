//! The store contract for orders of a process that has ended.

use super::samples::{NOW, begun, mailed, offer, paid};
use super::store_under_test::StoreUnderTest;
use crate::lifecycle::schedule::Attention;
use crate::lifecycle::{Order, Setback, Stored};
use crate::model::ids::WorkerId;
use crate::ports::StoreError;

/// Long before anything here is due.
const EARLY: u64 = 5;
const LATE: u64 = 1_000;

/// The same order, due much later, while this process works on it.
fn worked_on<S>(order: Order<S>, worker: WorkerId) -> Order<S> {
    let due = Some(NOW.plus(LATE));
    Order {
        attention: Attention {
            due,
            planned: NOW,
            looks: 2,
            worker: Some(worker),
            acknowledged: None,
        },
        ..order
    }
}

fn ids(orders: &[Stored]) -> Vec<String> {
    let mut ids: Vec<_> = orders.iter().map(|order| order.id().to_string()).collect();
    ids.sort();
    ids
}

fn ids_of(seeds: &[u64]) -> Vec<String> {
    let mut ids: Vec<_> = seeds.iter().map(|seed| offer(*seed).id.to_string()).collect();
    ids.sort();
    ids
}

pub async fn orders_of_a_dead_worker_are_claimed_first_whenever_they_are_due(
    subject: StoreUnderTest,
) {
    let worker = subject.worker;
    let due = Attention { due: Some(NOW), planned: NOW, ..Attention::NONE };
    subject.insert(Order { attention: due, ..begun(offer(1), 1) }).await;
    subject.insert(worked_on(begun(offer(2), 2), worker)).await;
    subject.insert(worked_on(begun(offer(3), 3).lost(NOW), worker)).await;
    subject.insert(worked_on(paid(4), worker)).await;
    let next = subject.restarted().await;
    let first = next.claim(NOW.plus(EARLY), NOW.plus(LATE), 3).await.unwrap();
    assert_eq!(ids(&first), ids_of(&[2, 3, 4]));
    for order in &first {
        let (attention, worker) = (order.attention(), Some(next.worker));
        let planned = NOW.plus(EARLY);
        assert_eq!(
            attention,
            Attention { due: Some(NOW.plus(LATE)), planned, looks: 2, worker, acknowledged: None }
        );
    }
    let rest = next.claim(NOW.plus(EARLY), NOW.plus(LATE), 64).await.unwrap();
    assert_eq!(ids(&rest), ids_of(&[1]));
    // And what the next process has claimed is free again when that one ends, too.
    let third = next.restarted().await;
    let again = third.claim(NOW.plus(EARLY), NOW.plus(LATE), 64).await.unwrap();
    assert_eq!(ids(&again), ids_of(&[1, 2, 3, 4]));
}

pub async fn an_order_of_a_dead_worker_is_claimed_by_one_and_its_old_holder_is_fenced(
    subject: StoreUnderTest,
) {
    let held = subject.insert(worked_on(begun(offer(1), 1), subject.worker)).await;
    let next = subject.restarted().await;
    let claimed = next.claim(NOW, NOW.plus(LATE), 64).await.unwrap();
    let [Stored::Settling(claimed)] = claimed.as_slice() else { panic!("{claimed:?}") };
    assert_eq!(claimed.version, held.version + 1);
    assert_eq!(next.claim(NOW, NOW.plus(LATE), 64).await, Ok(Vec::new()));
    assert_eq!(next.record(held.lost(NOW)).await, Err(StoreError::Moved));
    assert!(next.record(claimed.clone().lost(NOW)).await.is_ok());
}

pub async fn a_resting_or_mailed_order_of_a_dead_worker_waits_until_it_is_due(
    subject: StoreUnderTest,
) {
    let worker = subject.worker;
    subject.insert(worked_on(paid(1).failed(Setback::Refused, NOW), worker)).await;
    subject.insert(worked_on(mailed(2), worker)).await;
    let unconfirmed = worked_on(begun(offer(3), 3).lost(NOW), worker);
    let rest = Attention { worker: None, ..unconfirmed.attention };
    subject.insert(Order { attention: rest, ..unconfirmed }).await;
    let next = subject.restarted().await;
    assert_eq!(next.claim(NOW.plus(EARLY), NOW.plus(LATE), 64).await, Ok(Vec::new()));
    let later = next.claim(NOW.plus(LATE), NOW.plus(2 * LATE), 64).await.unwrap();
    assert_eq!(ids(&later), ids_of(&[1, 2, 3]));
}

pub async fn a_worker_does_not_claim_the_order_that_it_works_on(subject: StoreUnderTest) {
    subject.insert(worked_on(begun(offer(1), 1), subject.worker)).await;
    assert_eq!(subject.claim(NOW.plus(EARLY), NOW.plus(LATE), 64).await, Ok(Vec::new()));
    let due = subject.claim(NOW.plus(LATE), NOW.plus(2 * LATE), 64).await.unwrap();
    assert_eq!(ids(&due), ids_of(&[1]));
}
