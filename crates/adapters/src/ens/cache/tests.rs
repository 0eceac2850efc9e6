//! The cache is bounded, and lookups of names that are not enabled are limited.

use std::future::{pending, poll_fn, ready};
use std::task::Poll;

use order::model::chain::{EvmAddress, Network};
use order::model::evidence::{Evidence, Record, Source};
use order::model::ids::Timestamp;

use super::*;
use order::testing::manual_clock::ManualClock;

fn seller(number: usize) -> Username {
    Username::kept(format!("seller{number}"))
}

fn found(seller: &Username) -> Option<Resolution> {
    let address = EvmAddress::from_bytes([1; 20]);
    let record = Record { network: Network::Base, address, source: Source::Chain };
    Resolution::new(vec![record], Evidence::made_up(seller.clone(), Timestamp(0)))
}

#[tokio::test]
async fn a_full_cache_evicts_the_oldest_name() {
    let clock = Arc::new(ManualClock::default());
    let cache = NameCache::new(clock.clone(), []);
    for number in 0..=NAMES_MAX {
        cache.keep(seller(number), found(&seller(number)));
        if number == 0 {
            clock.advance(1);
        }
    }
    assert_eq!(lock(&cache.entries).len(), NAMES_MAX);
    assert!(cache.cached(&seller(0)).is_none());
    assert!(cache.cached(&seller(NAMES_MAX)).is_some());
    assert!(lock(&cache.lookups).is_empty());
}

#[tokio::test]
async fn lookups_of_other_names_do_not_delay_an_enabled_seller() {
    let clock = Arc::new(ManualClock::default());
    let enabled = seller(0);
    let cache = NameCache::new(clock.clone(), [enabled.clone()]);

    let names: Vec<_> = (1..=OTHER_NAMES_MAX).map(seller).collect();
    let mut lookups: Vec<_> = names
        .iter()
        .map(|name| Box::pin(cache.get_or_resolve(name, Purpose::Payment, pending)))
        .collect();
    poll_fn(|context| {
        assert!(lookups.iter_mut().all(|one| one.as_mut().poll(context).is_pending()));
        Poll::Ready(())
    })
    .await;
    let late = seller(OTHER_NAMES_MAX + 1);
    let outcome = cache.get_or_resolve(&late, Purpose::Payment, || ready(Ok(None))).await;
    assert_eq!(outcome, Err(LookupError::Busy));
    let outcome =
        cache.get_or_resolve(&enabled, Purpose::Payment, || ready(Ok(found(&enabled)))).await;
    assert!(outcome.is_ok());

    // They disconnect, and no lookup remains.
    drop(lookups);
    assert!(lock(&cache.lookups).is_empty());
    assert!(cache.get_or_resolve(&late, Purpose::Payment, || ready(Ok(None))).await.is_ok());
}

#[tokio::test]
async fn missing_names_never_evict_an_enabled_seller() {
    let clock = Arc::new(ManualClock::default());
    let (enabled, found_once) = (seller(0), seller(1));
    let cache = NameCache::new(clock.clone(), [enabled.clone()]);
    for name in [&enabled, &found_once] {
        cache.get_or_resolve(name, Purpose::Payment, || ready(Ok(found(name)))).await.unwrap();
    }
    clock.advance(1);
    for number in 2..NAMES_MAX + 10 {
        cache.keep(seller(number), None);
    }
    assert_eq!(lock(&cache.entries).len(), NAMES_MAX);
    assert!(cache.cached(&found_once).is_some());
    // The next lookup fails, and the stale result can still be offered.
    clock.advance(FOUND_SECONDS);
    for number in 0..10 {
        cache.keep(Username::kept(format!("more{number}")), None);
    }
    let outcome =
        cache.get_or_resolve(&enabled, Purpose::Offer, || ready(Err(LookupError::TimedOut))).await;
    assert_eq!(
        outcome.unwrap().map(|answer| answer.payees().clone()),
        found(&enabled).map(|answer| answer.payees().clone())
    );
}

#[tokio::test]
async fn other_names_are_looked_up_at_a_limited_rate_and_enabled_sellers_always() {
    let clock = Arc::new(ManualClock::default());
    let enabled = seller(0);
    let cache = NameCache::new(clock.clone(), [enabled.clone()]);
    let looked_up = async |numbers: std::ops::Range<usize>| {
        let mut count = 0;
        for number in numbers {
            let name = Username::kept(format!("other{number}"));
            // A resolver may have an account for any name.
            let look = || ready(Ok(found(&name)));
            let outcome = cache.get_or_resolve(&name, Purpose::Payment, look).await;
            count += u32::from(outcome.is_ok());
        }
        count
    };
    assert_eq!(looked_up(0..1_000).await, OTHER_NAMES_RATE.burst);
    let outcome =
        cache.get_or_resolve(&enabled, Purpose::Payment, || ready(Ok(found(&enabled)))).await;
    assert!(outcome.is_ok());
    clock.advance(1);
    assert_eq!(looked_up(1_000..2_000).await, OTHER_NAMES_RATE.per_second);
    // A name that was found before is looked up at the same rate.
    clock.advance(FOUND_SECONDS + STALE_SECONDS);
    assert_eq!(looked_up(0..1_000).await, OTHER_NAMES_RATE.burst);
    clock.advance(FOUND_SECONDS);
    assert_eq!(looked_up(0..1_000).await, OTHER_NAMES_RATE.burst);
}
