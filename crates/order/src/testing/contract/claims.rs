//! The store contract for claims of due orders.

use super::samples::{NOW, begun, mailed, offer, paid};
use super::store_under_test::StoreUnderTest;
use crate::lifecycle::schedule::{Attention, CLOCK_SKEW_SECONDS};
use crate::lifecycle::{Order, Setback, Settling, Standing, Stored};
use crate::model::chain::Network;
use crate::model::ids::Timestamp;
use crate::model::mail::ProviderAccount;
use crate::model::payment::TenderKind;
use crate::ports::{OpenOrders, StoreError};

/// An order that is due at this time.
fn due(seed: u64, at: Option<Timestamp>) -> Order<Settling> {
    Order {
        attention: Attention { due: at, planned: NOW, looks: 3, ..Attention::NONE },
        ..begun(offer(seed), seed)
    }
}

pub async fn the_longest_due_comes_first_and_no_more_than_asked(subject: StoreUnderTest) {
    for (seed, wait) in [(1, 30), (2, 10), (3, 50), (4, 20), (5, 40)] {
        subject.insert(due(seed, Some(NOW.plus(wait)))).await;
    }
    subject.insert(due(6, None)).await;
    let claim = async |now: u64, most| {
        let claimed = subject.claim(NOW.plus(now), NOW.plus(1_000), most).await.unwrap();
        claimed.iter().map(Stored::id).collect::<Vec<_>>()
    };
    let ids = |seeds: &[u64]| seeds.iter().map(|seed| offer(*seed).id).collect::<Vec<_>>();
    assert_eq!(claim(9, 64).await, ids(&[]));
    assert_eq!(claim(40, 2).await, ids(&[2, 4]));
    assert_eq!(claim(40, 0).await, ids(&[]));
    assert_eq!(claim(40, 64).await, ids(&[1, 5]));
    assert_eq!(claim(60, 64).await, ids(&[3]));
}

pub async fn an_order_in_play_is_claimed_before_mailed_cards_that_are_due_longer(
    subject: StoreUnderTest,
) {
    let due_at = |wait| Attention { due: Some(NOW.plus(wait)), planned: NOW, ..Attention::NONE };
    for (seed, wait) in [(1, 10), (2, 20), (3, 30)] {
        subject.insert(Order { attention: due_at(wait), ..mailed(seed) }).await;
    }
    subject.insert(due(4, Some(NOW.plus(40)))).await;
    // Planned by a clock that ran ahead.
    let ahead = Attention { planned: NOW.plus(2 * CLOCK_SKEW_SECONDS), ..due_at(1_000) };
    subject.insert(Order { attention: ahead, ..begun(offer(5), 5) }).await;
    subject.insert(Order { attention: due_at(41), ..mailed(6) }).await;
    let claim = async |most| {
        let claimed = subject.claim(NOW.plus(40), NOW.plus(2_000), most).await.unwrap();
        claimed.iter().map(Stored::id).collect::<Vec<_>>()
    };
    let ids = |seeds: &[u64]| seeds.iter().map(|seed| offer(*seed).id).collect::<Vec<_>>();
    assert_eq!(claim(1).await, ids(&[4]));
    assert_eq!(claim(2).await, ids(&[5, 1]));
    assert_eq!(claim(64).await, ids(&[2, 3]));
}

pub async fn a_claimed_order_is_not_claimed_again_until_its_lease_ends(subject: StoreUnderTest) {
    let store = &subject.store;
    let kept = subject.insert(due(1, Some(NOW))).await;
    let until = NOW.plus(120);
    let claimed = subject.claim(NOW, until, 64).await.unwrap();
    let worker = Some(subject.worker);
    let attention = Attention { due: Some(until), planned: NOW, worker, ..kept.attention };
    let expected = Stored::from(Order { version: kept.version + 1, attention, ..kept });
    assert_eq!(claimed.as_slice(), std::slice::from_ref(&expected));
    assert_eq!(store.find(expected.id()).await, Ok(Some(expected.clone())));
    assert_eq!(subject.claim(NOW.plus(119), NOW.plus(500), 64).await, Ok(Vec::new()));
    let again = subject.claim(until, NOW.plus(500), 64).await.unwrap();
    assert_eq!(again.len(), 1);
    assert_eq!(again[0].version(), expected.version() + 1);
}

pub async fn a_holder_from_before_a_claim_can_no_longer_write_the_order(subject: StoreUnderTest) {
    let store = &subject.store;
    let held = subject.insert(due(1, Some(NOW))).await;
    let first = subject.claim(NOW, NOW.plus(10), 64).await.unwrap();
    assert_eq!(subject.record(held.lost(NOW)).await, Err(StoreError::Moved));
    let second = subject.claim(NOW.plus(10), NOW.plus(20), 64).await.unwrap();
    let [Stored::Settling(first)] = first.as_slice() else { panic!("{first:?}") };
    let [Stored::Settling(second)] = second.as_slice() else { panic!("{second:?}") };
    let late = subject.record(first.clone().lost(NOW)).await;
    assert_eq!(late, Err(StoreError::Moved));
    assert!(subject.record(second.clone().lost(NOW)).await.is_ok());
    // A claim is not an event: the order is unchanged.
    assert_eq!(store.events(second.id).await.unwrap().len(), 2);
}

pub async fn only_refused_cards_are_made_due_now(subject: StoreUnderTest) {
    let refused = |seed| paid(seed).failed(Setback::Refused, NOW);
    let claimed = subject.insert(refused(1)).await;
    let until = NOW.plus(120);
    assert_eq!(subject.claim(NOW.plus(10), until, 64).await.unwrap().len(), 1);
    subject.insert(Order { attention: Attention::NONE, ..refused(2) }).await;
    subject.insert(paid(3).failed(Setback::Lost, NOW.plus(10))).await;
    let late = Attention { due: Some(NOW.plus(600)), planned: NOW, looks: 9, ..Attention::NONE };
    let waiting = subject.insert(Order { attention: late, ..refused(4) }).await;
    subject.insert(Order { attention: late, ..paid(5).failed(Setback::Lost, NOW) }).await;
    subject.store.hasten_refused(NOW.plus(11)).await.unwrap();
    let hastened = subject.claim(NOW.plus(11), until, 64).await.unwrap();
    let [Stored::Unfulfilled(order)] = hastened.as_slice() else { panic!("{hastened:?}") };
    assert_eq!((order.id, order.attention.looks), (waiting.id, 9));
    assert_ne!(order.id, claimed.id);
}

pub async fn open_orders_are_counted_by_provider_and_network(subject: StoreUnderTest) {
    let account = |name: &str| ProviderAccount(name.into());
    subject.store.offer(offer(1)).await.unwrap();
    subject.insert(begun(offer(2), 2)).await;
    for seed in 3..=4 {
        subject.insert(paid(seed).submitting_to(account("one")).failed(Setback::Lost, NOW)).await;
    }
    subject.insert(paid(5).submitting_to(account("two"))).await;
    // Mailed with a final payment: only delivery is tracked.
    let mut arriving = mailed(6);
    arriving.state.paid.standing = Standing::Final;
    subject.insert(arriving).await;
    subject.insert(mailed(7)).await;
    subject.insert(mailed(8).undelivered(NOW)).await;
    let mut open = subject.store.open_orders().await.unwrap();
    open.sort();
    let counted: Vec<_> = open.iter().map(|open| (open.account.clone(), open.count)).collect();
    assert_eq!(counted, [(None, 2), (Some(account("one")), 2), (Some(account("two")), 1)]);
    for OpenOrders { tender, network, .. } in open {
        assert_eq!((tender, network), (TenderKind::X402, Network::Base));
    }
}

pub async fn a_check_scheduled_by_a_clock_that_ran_ahead_is_due_now(subject: StoreUnderTest) {
    let planned = async |seed, planned: Timestamp| {
        let attention = Attention { due: Some(planned.plus(600)), planned, ..Attention::NONE };
        subject.insert(Order { attention, ..due(seed, None) }).await;
    };
    let skewed = NOW.plus(CLOCK_SKEW_SECONDS);
    planned(1, skewed).await;
    planned(2, skewed.plus(1)).await;
    planned(3, skewed.plus(40 * 365 * 24 * 60 * 60)).await;
    subject.insert(due(4, Some(NOW))).await;
    let claimed = subject.claim(NOW, NOW.plus(120), 64).await.unwrap();
    let ids: Vec<_> = claimed.iter().map(Stored::id).collect();
    assert_eq!(ids, [4, 2, 3].map(|seed| offer(seed).id));
    // Once claimed, they are scheduled by the claimer's clock.
    assert_eq!(subject.claim(NOW, NOW.plus(120), 64).await, Ok(Vec::new()));
}
