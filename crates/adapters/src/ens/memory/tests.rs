//! The shelf has an end, and strangers stand in line.

use std::future::{pending, poll_fn, ready};
use std::task::Poll;

use order::model::chain::{EvmAddress, Network};
use order::model::evidence::{Evidence, Record, Source};
use order::model::ids::Timestamp;

use super::*;
use crate::stopped_clock::StoppedClock;

fn seller(number: usize) -> Username {
    Username::kept(format!("seller{number}"))
}

fn found(seller: &Username) -> Option<Resolution> {
    let address = EvmAddress::from_bytes([1; 20]);
    let record = Record { network: Network::Base, address, source: Source::Chain };
    Resolution::new(vec![record], Evidence::made_up(seller.clone(), Timestamp(0)))
}

#[tokio::test]
async fn the_shelf_has_an_end_and_the_oldest_goes_first() {
    let clock = Arc::new(StoppedClock::default());
    let memory = Memory::new(clock.clone(), []);
    for number in 0..=NAMES_MAX {
        memory.keep(seller(number), found(&seller(number)));
        if number == 0 {
            clock.pass(1);
        }
    }
    assert_eq!(lock(&memory.shelf).len(), NAMES_MAX);
    assert!(memory.remembered(&seller(0)).is_none());
    assert!(memory.remembered(&seller(NAMES_MAX)).is_some());
    assert!(lock(&memory.flights).is_empty());
}

#[tokio::test]
async fn a_crowd_of_strangers_does_not_keep_a_known_seller_waiting() {
    let clock = Arc::new(StoppedClock::default());
    let memory = Memory::new(clock.clone(), []);
    let known = seller(0);
    memory.recall(&known, Purpose::Payment, || ready(Ok(found(&known)))).await.unwrap();
    clock.pass(FOUND_SECONDS);

    let names: Vec<_> = (1..=STRANGERS_MAX).map(seller).collect();
    let mut crowd: Vec<_> =
        names.iter().map(|name| Box::pin(memory.recall(name, Purpose::Payment, pending))).collect();
    poll_fn(|context| {
        assert!(crowd.iter_mut().all(|one| one.as_mut().poll(context).is_pending()));
        Poll::Ready(())
    })
    .await;
    let late = seller(STRANGERS_MAX + 1);
    let outcome = memory.recall(&late, Purpose::Payment, || ready(Ok(None))).await;
    assert_eq!(outcome, Err(Trouble::Busy));
    let outcome = memory.recall(&known, Purpose::Payment, || ready(Ok(found(&known)))).await;
    assert!(outcome.is_ok());

    // They hang up, and nothing is left of them.
    drop(crowd);
    assert!(lock(&memory.flights).is_empty());
    assert!(memory.recall(&late, Purpose::Payment, || ready(Ok(None))).await.is_ok());
}

#[tokio::test]
async fn names_without_an_address_never_push_out_a_seller_of_this_shop() {
    let clock = Arc::new(StoppedClock::default());
    let (enabled, found_once) = (seller(0), seller(1));
    let memory = Memory::new(clock.clone(), [enabled.clone()]);
    for name in [&enabled, &found_once] {
        memory.recall(name, Purpose::Payment, || ready(Ok(found(name)))).await.unwrap();
    }
    clock.pass(1);
    for number in 2..NAMES_MAX + 10 {
        memory.keep(seller(number), None);
    }
    assert_eq!(lock(&memory.shelf).len(), NAMES_MAX);
    assert!(memory.remembered(&found_once).is_some());
    // When it is asked for again no node answers, and yet an offer can be made.
    clock.pass(FOUND_SECONDS);
    for number in 0..10 {
        memory.keep(Username::kept(format!("more{number}")), None);
    }
    let outcome = memory.recall(&enabled, Purpose::Offer, || ready(Err(Trouble::TimedOut))).await;
    assert_eq!(
        outcome.unwrap().map(|answer| answer.payees().clone()),
        found(&enabled).map(|answer| answer.payees().clone())
    );
}

#[tokio::test]
async fn unknown_names_are_looked_up_at_a_limited_rate_and_enabled_sellers_always() {
    let clock = Arc::new(StoppedClock::default());
    let enabled = seller(0);
    let memory = Memory::new(clock.clone(), [enabled.clone()]);
    let looked_up = async |numbers: std::ops::Range<usize>| {
        let mut count = 0;
        for number in numbers {
            let name = Username::kept(format!("unknown{number}"));
            let outcome = memory.recall(&name, Purpose::Payment, || ready(Ok(None))).await;
            count += u32::from(outcome.is_ok());
        }
        count
    };
    assert_eq!(looked_up(0..1_000).await, STRANGERS.burst);
    let outcome = memory.recall(&enabled, Purpose::Payment, || ready(Ok(found(&enabled)))).await;
    assert!(outcome.is_ok());
    clock.pass(1);
    assert_eq!(looked_up(1_000..2_000).await, STRANGERS.per_second);
}
