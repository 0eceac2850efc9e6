//! The store contract for expired and superfluous rows.

use super::samples::{NOW, begun, every_state, named, named_operation, offer, offer_of};
use super::store_under_test::StoreUnderTest;
use crate::lifecycle::event::Actor;
use crate::lifecycle::{OFFER_SECONDS, Offered, Order};
use crate::model::ids::Timestamp;
use crate::ports::{StoreError, Tidied, TidyLimits};

const LIMITS: TidyLimits = TidyLimits { unpaid_rows_max: 1_000_000, lapsed_seconds: 1_000 };
const OVER: Timestamp = NOW.plus(OFFER_SECONDS);

/// An offer that was made so many seconds later than the others.
fn later(seed: u64, seconds: u64) -> Order<Offered> {
    offer_of(named_operation(seed), NOW.plus(seconds))
}

pub async fn an_expired_offer_lapses_and_its_holder_can_no_longer_write_it(
    subject: StoreUnderTest,
) {
    let store = &subject.store;
    store.offer(named(1)).await.unwrap();
    store.offer(later(2, 1)).await.unwrap();
    let settling = subject.insert(begun(offer(3), 3)).await;
    let tidied = store.tidy(OVER, LIMITS).await;
    assert_eq!(tidied, Ok(Tidied { lapsed: 1, dropped: 0 }));
    let lapsed = Order { version: 1, ..named(1).lapse() };
    assert_eq!(store.find(lapsed.id).await, Ok(Some(lapsed.clone().into())));
    assert_eq!(store.newest(&lapsed.operation.key).await, Ok(Some(lapsed.into())));
    assert_eq!(store.find(later(2, 1).id).await, Ok(Some(later(2, 1).into())));
    assert_eq!(store.find(settling.id).await, Ok(Some(settling.into())));
    assert_eq!(subject.record(begun(named(1), 1)).await, Err(StoreError::Moved));
    assert_eq!(store.tidy(OVER, LIMITS).await, Ok(Tidied::default()));
}

pub async fn above_the_limit_the_oldest_unpaid_orders_are_dropped_first(subject: StoreUnderTest) {
    let store = &subject.store;
    for seed in 0..10 {
        store.offer(later(seed, seed)).await.unwrap();
    }
    subject.insert(begun(later(0, 0), 0)).await;
    let limits = TidyLimits { unpaid_rows_max: 4, ..LIMITS };
    assert_eq!(store.tidy(NOW.plus(20), limits).await, Ok(Tidied { lapsed: 0, dropped: 5 }));
    for seed in 0..10 {
        let there = store.find(named(seed).id).await.unwrap().is_some();
        assert_eq!(there, seed == 0 || seed > 5, "{seed}");
    }
}

pub async fn offers_are_dropped_by_age_and_not_by_insertion_order(subject: StoreUnderTest) {
    let store = &subject.store;
    for seed in [4, 2, 9, 7, 1, 3, 8, 6, 5, 0] {
        store.offer(later(seed, seed)).await.unwrap();
    }
    let limits = TidyLimits { unpaid_rows_max: 4, ..LIMITS };
    assert_eq!(store.tidy(NOW.plus(20), limits).await, Ok(Tidied { lapsed: 0, dropped: 6 }));
    for seed in 0..10 {
        assert_eq!(store.find(named(seed).id).await.unwrap().is_some(), seed > 5, "{seed}");
    }
}

pub async fn a_lapsed_identifier_is_dropped_after_its_retention_time(subject: StoreUnderTest) {
    let store = &subject.store;
    store.offer(named(1)).await.unwrap();
    store.tidy(OVER, LIMITS).await.unwrap();
    let kept = store.tidy(OVER.plus(LIMITS.lapsed_seconds), LIMITS).await;
    assert_eq!(kept, Ok(Tidied::default()));
    let gone = store.tidy(OVER.plus(LIMITS.lapsed_seconds + 1), LIMITS).await;
    assert_eq!(gone, Ok(Tidied { lapsed: 0, dropped: 1 }));
    assert_eq!(store.find(named(1).id).await, Ok(None));
    assert_eq!(store.newest(&named_operation(1).key).await, Ok(None));
    // With a clock before the time at which it lapsed, nothing is dropped.
    store.offer(named(2)).await.unwrap();
    store.tidy(OVER, LIMITS).await.unwrap();
    assert_eq!(store.tidy(Timestamp(5), LIMITS).await, Ok(Tidied::default()));
}

pub async fn an_order_with_a_history_is_never_dropped(subject: StoreUnderTest) {
    let store = &subject.store;
    let all = every_state(1);
    for order in &all {
        store.record(order, &Actor::Checkout).await.unwrap();
    }
    let long_after = NOW.plus(100 * 365 * 24 * 60 * 60);
    let limits = TidyLimits { unpaid_rows_max: 0, lapsed_seconds: 0 };
    store.tidy(long_after, limits).await.unwrap();
    for order in all {
        let there = store.find(order.id()).await.unwrap().is_some();
        assert!(there, "{}", order.headline());
        assert_eq!(store.events(order.id()).await.unwrap().len(), 1);
    }
}

pub async fn a_long_tidying_is_finished_in_one_call(subject: StoreUnderTest) {
    let store = &subject.store;
    let count = 2_345;
    for seed in 0..count {
        store.offer(named(seed)).await.unwrap();
    }
    assert_eq!(store.tidy(OVER, LIMITS).await, Ok(Tidied { lapsed: count, dropped: 0 }));
    let few = TidyLimits { unpaid_rows_max: 5, ..LIMITS };
    assert_eq!(store.tidy(OVER, few).await, Ok(Tidied { lapsed: 0, dropped: count - 5 }));
    let gone = store.tidy(OVER.plus(2_000), LIMITS).await;
    assert_eq!(gone, Ok(Tidied { lapsed: 0, dropped: 5 }));
}

pub async fn an_offer_whose_payment_was_declined_lapses_and_is_never_dropped(
    subject: StoreUnderTest,
) {
    let store = &subject.store;
    let settling = subject.insert(begun(named(1), 1)).await;
    let declined = subject.insert(settling.declined(NOW.plus(5))).await;
    let automatic = subject.insert(begun(offer(2), 2)).await;
    let automatic = subject.insert(automatic.declined(NOW.plus(5))).await;
    let none = TidyLimits { unpaid_rows_max: 0, lapsed_seconds: 0 };
    let long_after = OVER.plus(1_000_000);
    assert_eq!(store.tidy(long_after, none).await, Ok(Tidied { lapsed: 1, dropped: 0 }));
    let version = declined.version + 1;
    let lapsed = Order { version, ..declined.lapse() };
    assert_eq!(store.find(lapsed.id).await, Ok(Some(lapsed.into())));
    assert_eq!(store.find(automatic.id).await, Ok(Some(automatic.into())));
    assert_eq!(subject.record(begun(offer(3), 1)).await, Err(StoreError::PaymentBound));
}
