//! The store contract for offers.

use super::samples::{NOW, begun, mailed, named, named_operation, offer_of, operation};
use super::store_under_test::StoreUnderTest;
use crate::lifecycle::{Order, Stored};
use crate::model::identity::Operation;
use crate::model::ids::{OperationKey, OrderId};

pub async fn an_empty_store_finds_nothing(subject: StoreUnderTest) {
    let store = &subject.store;
    store.offer(named(1)).await.unwrap();
    assert_eq!(store.find(OrderId::from_bytes([9; 16])).await, Ok(None));
    assert_eq!(store.newest(&OperationKey([9; 32])).await, Ok(None));
    assert_eq!(store.events(named(1).id).await, Ok(Vec::new()));
    assert_eq!(store.ping().await, Ok(()));
}

pub async fn an_offer_is_seen_at_once_by_its_id_and_its_operation(subject: StoreUnderTest) {
    let store = &subject.store;
    for seed in 0..100 {
        let fresh = named(seed);
        let expected = Stored::from(fresh.clone());
        assert_eq!(store.offer(fresh.clone()).await.as_ref(), Ok(&expected));
        assert_eq!(store.find(fresh.id).await, Ok(Some(expected.clone())));
        assert_eq!(store.newest(&fresh.operation.key).await, Ok(Some(expected)));
    }
}

pub async fn an_offer_made_twice_is_kept_once(subject: StoreUnderTest) {
    let store = &subject.store;
    let first = named(1);
    let later = Order::offer(first.id, named_operation(1), NOW.plus(50));
    store.offer(first.clone()).await.unwrap();
    let kept = Ok(Some(Stored::from(first.clone())));
    assert_eq!(store.offer(later).await.map(Some), kept);
    assert_eq!(store.find(first.id).await, kept);
}

pub async fn offering_an_order_that_has_moved_on_returns_what_it_is_now(subject: StoreUnderTest) {
    let store = &subject.store;
    store.offer(named(1)).await.unwrap();
    let settling = subject.insert(begun(named(1), 1)).await;
    let kept = store.offer(named(1)).await;
    assert_eq!(kept, Ok(settling.into()));
    assert_eq!(store.find(named(1).id).await.map(Option::unwrap), kept);
    assert_eq!(store.newest(&named_operation(1).key).await.map(Option::unwrap), kept);
}

pub async fn the_newest_order_is_the_one_of_the_highest_generation(subject: StoreUnderTest) {
    let store = &subject.store;
    let operation = named_operation(1);
    let generation = |generation| offer_of(Operation { generation, ..named_operation(1) }, NOW);
    let lapsed = generation(0).lapse();
    subject.insert(lapsed).await;
    store.offer(generation(1)).await.unwrap();
    let newest = store.newest(&operation.key).await;
    assert_eq!(newest, Ok(Some(generation(1).into())));
    let moved = subject.insert(begun(generation(1), 1)).await;
    store.offer(generation(2)).await.unwrap();
    let newest = store.newest(&operation.key).await;
    assert_eq!(newest, Ok(Some(generation(2).into())));
    assert_eq!(store.find(moved.id).await, Ok(Some(moved.into())));
}

pub async fn a_late_transition_of_an_old_generation_does_not_make_it_newest(
    subject: StoreUnderTest,
) {
    let store = &subject.store;
    let old = subject.insert(mailed(1)).await;
    let next = offer_of(Operation { generation: 1, ..operation(1) }, NOW.plus(3_000_000));
    store.offer(next.clone()).await.unwrap();
    subject.insert(old.undelivered(NOW.plus(3_000_001))).await;
    assert_eq!(store.newest(&operation(1).key).await, Ok(Some(next.into())));
}
