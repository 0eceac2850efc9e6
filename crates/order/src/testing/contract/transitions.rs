//! The store contract for transitions.

use super::samples::{
    NOW, begun, every_state, key, mailed, offer, offer_of, operation, payment, payment_with, quote,
};
use super::store_under_test::StoreUnderTest;
use crate::lifecycle::event::{Actor, Event, OperatorAction};
use crate::lifecycle::{Order, Reopened, Setback, Settling, Stored};
use crate::model::chain::Network;
use crate::model::identity::Operation;
use crate::model::mail::Mailpiece;
use crate::model::payment::{Finality, PaymentKey, TenderKind};
use crate::ports::StoreError;

pub async fn a_transition_advances_the_version_by_one_and_reads_back(subject: StoreUnderTest) {
    let store = &subject.store;
    store.offer(offer(1)).await.unwrap();
    let settling = subject.record(begun(offer(1), 1)).await.unwrap();
    assert_eq!(settling.version, 1);
    assert_eq!(store.find(settling.id).await, Ok(Some(settling.clone().into())));
    let settlement = super::samples::settlement(Finality::Final);
    let paid = subject.record(settling.settled(settlement, NOW.plus(3))).await.unwrap();
    assert_eq!(paid.version, 2);
    assert_eq!(store.find(paid.id).await, Ok(Some(paid.clone().into())));
    assert_eq!(store.newest(&paid.operation.key).await, Ok(Some(paid.into())));
}

pub async fn a_transition_from_an_old_version_writes_nothing(subject: StoreUnderTest) {
    let store = &subject.store;
    store.offer(offer(1)).await.unwrap();
    let kept = subject.insert(begun(offer(1), 1)).await;
    for late in [begun(offer(1), 2), Order { version: 2, ..begun(offer(1), 3) }] {
        assert_eq!(subject.record(late).await, Err(StoreError::Moved));
    }
    assert_eq!(store.events(kept.id).await.unwrap().len(), 1);
    assert_eq!(store.find(kept.id).await, Ok(Some(kept.into())));
}

pub async fn the_first_transition_of_an_order_without_a_row_is_written(subject: StoreUnderTest) {
    let settling = subject.record(begun(offer(1), 1)).await.unwrap();
    assert_eq!(settling.version, 1);
    assert_eq!(subject.store.find(settling.id).await, Ok(Some(settling.into())));
}

pub async fn a_key_of_another_order_is_refused_and_nothing_is_written(subject: StoreUnderTest) {
    let store = &subject.store;
    subject.insert(begun(offer(1), 1)).await;
    store.offer(offer(2)).await.unwrap();
    // The taken key stands between two that are free, and must leave both so.
    for (place, keys) in [[10, 1, 11], [1, 10, 11], [10, 11, 1]].into_iter().enumerate() {
        let refused = begun_with(2, &keys);
        assert_eq!(subject.record(refused).await, Err(StoreError::PaymentBound), "{place}");
    }
    assert_eq!(store.find(offer(2).id).await, Ok(Some(offer(2).into())));
    assert_eq!(store.events(offer(2).id).await, Ok(Vec::new()));
    subject.insert(begun_with(3, &[10])).await;
    subject.insert(begun_with(2, &[11])).await;
}

pub async fn bound_returns_exactly_the_orders_that_keys_are_bound_to(subject: StoreUnderTest) {
    let store = &subject.store;
    let told = async |seeds: &[u64]| {
        let keys: Vec<PaymentKey> = seeds.iter().map(|seed| key(*seed)).collect();
        let mut orders = store.bound(&keys).await.unwrap();
        orders.sort();
        orders.dedup();
        orders
    };
    store.offer(offer(3)).await.unwrap();
    assert_eq!(told(&[1, 2, 3]).await, []);
    let first = subject.insert(begun_with(1, &[1, 10])).await;
    subject.insert(begun_with(2, &[2])).await;
    assert_eq!(told(&[]).await, []);
    assert_eq!(told(&[3, 11]).await, []);
    for seeds in [&[1][..], &[10], &[1, 10], &[3, 1], &[11, 10, 3]] {
        assert_eq!(told(seeds).await, [offer(1).id], "{seeds:?}");
    }
    let mut both = [offer(1).id, offer(2).id];
    both.sort();
    assert_eq!(told(&[3, 2, 10]).await, both);
    // Also after a declined payment, and after a refused transition.
    subject.insert(first.declined(NOW.plus(5))).await;
    assert_eq!(subject.record(begun_with(3, &[3, 1])).await, Err(StoreError::PaymentBound));
    assert_eq!(told(&[1]).await, [offer(1).id]);
    assert_eq!(told(&[3]).await, []);
}

pub async fn a_transition_that_loses_leaves_its_key_free(subject: StoreUnderTest) {
    subject.insert(begun(offer(1), 1)).await;
    assert_eq!(subject.record(begun(offer(1), 2)).await, Err(StoreError::Moved));
    subject.insert(begun(offer(2), 2)).await;
}

pub async fn a_declined_order_may_present_its_own_key_again_and_no_other_order_may(
    subject: StoreUnderTest,
) {
    let settling = subject.insert(begun(offer(1), 1)).await;
    let again = subject.insert(settling.declined(NOW.plus(5))).await;
    assert_eq!(subject.record(begun(offer(2), 1)).await, Err(StoreError::PaymentBound));
    subject
        .insert(again.begin_settlement(
            super::samples::card_of(1),
            quote(),
            payment(1),
            NOW.plus(6),
        ))
        .await;
    assert_eq!(subject.record(begun(offer(2), 1)).await, Err(StoreError::PaymentBound));
}

pub async fn every_state_reads_back_exactly(subject: StoreUnderTest) {
    let store = &subject.store;
    for mut order in every_state(1) {
        let version = store.record(&order, &Actor::Reconciler).await.unwrap();
        order.set_version(version);
        assert_eq!(store.find(order.id()).await, Ok(Some(order.clone())));
        assert_eq!(store.newest(&order.operation().key).await, Ok(Some(order)));
    }
}

/// The new state contains nothing of the old one.
pub async fn every_state_can_replace_every_other(subject: StoreUnderTest) {
    let store = &subject.store;
    let mut version = 0;
    for (before, after) in pairs(every_state(1)) {
        for order in [before, after] {
            let mut order = under_one_name(order);
            order.set_version(version);
            version = store.record(&order, &Actor::Checkout).await.unwrap();
            order.set_version(version);
            assert_eq!(store.find(order.id()).await, Ok(Some(order)));
        }
    }
}

pub async fn of_one_operation_no_two_orders_are_in_play(subject: StoreUnderTest) {
    let later = |generation| Operation { generation, ..operation(1) };
    let first = subject.insert(begun(offer(1), 1)).await;
    let second = offer_of(later(1), NOW);
    subject.store.offer(second.clone()).await.unwrap();
    assert_eq!(subject.record(begun(second.clone(), 2)).await, Err(StoreError::Moved));
    // Neither while its payment is in doubt, nor while its card is owed.
    let settlement = super::samples::settlement(Finality::Final);
    let paid = subject.record(first.settled(settlement, NOW)).await.unwrap();
    assert_eq!(subject.record(begun(second.clone(), 2)).await, Err(StoreError::Moved));
    let owed = subject.record(paid.failed(Setback::Refused, NOW)).await.unwrap();
    assert_eq!(subject.record(begun(second.clone(), 2)).await, Err(StoreError::Moved));
    let Reopened::Owed(again) = owed.reopen() else { panic!("its card is there") };
    subject.record(again.accepted(Mailpiece("7".into()), NOW)).await.unwrap();
    subject.record(begun(second, 2)).await.unwrap();
}

pub async fn events_are_appended_in_sequence(subject: StoreUnderTest) {
    let store = &subject.store;
    let ida = Actor::Operator(OperatorAction {
        operator: "ida".parse().unwrap(),
        action: "acknowledge",
        note: String::new(),
        at: NOW,
    });
    let mut expected: Vec<Event> = Vec::new();
    let mut order = Stored::from(begun(offer(1), 1));
    for by in [Actor::Checkout, Actor::Reconciler, ida] {
        let version = store.record(&order, &by).await.unwrap();
        expected.push(Event::of(&order, version, &by));
        // Another order's events are not ours.
        subject.insert(begun(offer(100 + version), 100 + version)).await;
        let mut next = Stored::from(mailed(1));
        next.set_version(version);
        order = next;
    }
    assert_eq!(store.events(order.id()).await, Ok(expected));
}

fn begun_with(seed: u64, keys: &[u64]) -> Order<Settling> {
    let keys: Vec<PaymentKey> = keys.iter().map(|seed| key(*seed)).collect();
    let payment = payment_with(keys, TenderKind::X402, Network::Base);
    offer(seed).begin_settlement(super::samples::card_of(seed), quote(), payment, NOW.plus(1))
}

/// Each state once before and once after its neighbours at every distance
/// that is a power of two: far fewer than all pairs, and every column changes
/// from filled to empty and back.
fn pairs(all: Vec<Stored>) -> Vec<(Stored, Stored)> {
    let distances = [1, 2, 4, 8, 16];
    let count = all.len();
    (0..count)
        .flat_map(|place| distances.map(|distance| (place, (place + distance) % count)))
        .map(|(before, after)| (all[before].clone(), all[after].clone()))
        .collect()
}

/// An order keeps its id and its operation through all transitions.
fn under_one_name(order: Stored) -> Stored {
    let Order { id, operation, .. } = offer(1);
    match order {
        Stored::Offered(order) => Order { id, operation, ..order }.into(),
        Stored::Settling(order) => Order { id, operation, ..order }.into(),
        Stored::Unconfirmed(order) => Order { id, operation, ..order }.into(),
        Stored::Submitting(order) => Order { id, operation, ..order }.into(),
        Stored::Unfulfilled(order) => Order { id, operation, ..order }.into(),
        Stored::Mailed(order) => Order { id, operation, ..order }.into(),
        Stored::Refunded(order) => Order { id, operation, ..order }.into(),
        Stored::Lapsed(order) => Order { id, operation, ..order }.into(),
    }
}
