//! The store contract under concurrency.

use std::sync::{Arc, Mutex};

use super::samples::{NOW, begun, named, offer};
use super::store_under_test::{StoreTask, StoreUnderTest};
use crate::lifecycle::schedule::Attention;
use crate::lifecycle::{OFFER_SECONDS, Offered, Order, Settling, Stored};
use crate::model::ids::OrderId;
use crate::ports::{StoreError, TidyLimits};

const RUNNERS: u64 = 64;

/// Runs one task for each number concurrently and returns the results.
async fn race<T, F>(
    subject: &StoreUnderTest,
    numbers: impl IntoIterator<Item = u64>,
    run: impl Fn(StoreUnderTest, u64) -> F,
) -> Vec<(u64, T)>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let results = Arc::new(Mutex::new(Vec::new()));
    let task = |number| -> StoreTask {
        let (results, running) = (Arc::clone(&results), run(subject.clone(), number));
        Box::pin(async move {
            let result = running.await;
            results.lock().unwrap().push((number, result));
        })
    };
    (subject.run_concurrently)(numbers.into_iter().map(task).collect()).await;
    std::mem::take(&mut *results.lock().unwrap())
}

fn winners(results: &[(u64, Result<Order<Settling>, StoreError>)], loss: StoreError) -> Vec<u64> {
    let won = |(number, result): &(u64, Result<_, _>)| match result {
        Ok(_) => Some(*number),
        Err(error) => {
            assert_eq!(*error, loss, "{number}");
            None
        }
    };
    results.iter().filter_map(won).collect()
}

pub async fn of_64_payments_for_one_order_one_begins_and_the_others_stay_free(
    subject: StoreUnderTest,
) {
    subject.store.offer(offer(0)).await.unwrap();
    let results = race(&subject, 1..=RUNNERS, |subject, payment| async move {
        subject.record(begun(offer(0), payment)).await
    })
    .await;
    let won = winners(&results, StoreError::Moved);
    assert_eq!(won.len(), 1);
    // Each loser's payment key is still free for another order; the winner's is not.
    for payment in 1..=RUNNERS {
        let other = subject.record(begun(offer(1_000 + payment), payment)).await;
        let expected = if won == [payment] { Err(StoreError::PaymentBound) } else { Ok(()) };
        assert_eq!(other.map(drop), expected, "{payment}");
    }
    assert_eq!(subject.store.events(offer(0).id).await.unwrap().len(), 1);
}

pub async fn of_64_orders_for_one_payment_one_begins(subject: StoreUnderTest) {
    for seed in 1..=RUNNERS {
        subject.store.offer(offer(seed)).await.unwrap();
    }
    let results = race(&subject, 1..=RUNNERS, |subject, seed| async move {
        subject.record(begun(offer(seed), 7)).await
    })
    .await;
    let won = winners(&results, StoreError::PaymentBound);
    assert_eq!(won.len(), 1);
    for seed in 1..=RUNNERS {
        let kept = subject.store.find(offer(seed).id).await.unwrap().unwrap();
        assert_eq!(matches!(kept, Stored::Settling(_)), won == [seed], "{seed}");
    }
}

pub async fn no_two_claimers_get_the_same_order(subject: StoreUnderTest) {
    let orders = 200;
    for seed in 0..orders {
        let attention = Attention { due: Some(NOW), planned: NOW, ..Attention::NONE };
        subject.insert(Order { attention, ..begun(offer(seed), seed) }).await;
    }
    let results = race(&subject, 1..=16, |subject, _| async move {
        let mut taken = Vec::new();
        loop {
            let (now, until) = (NOW.plus(5), NOW.plus(120));
            let claimed = subject.store.claim(subject.worker, now, until, 7).await.unwrap();
            if claimed.is_empty() {
                return taken;
            }
            taken.extend(claimed.iter().map(|order| (order.id(), order.version())));
        }
    })
    .await;
    let mut taken: Vec<(OrderId, u64)> = results.into_iter().flat_map(|(_, ids)| ids).collect();
    taken.sort();
    let mut expected: Vec<_> = (0..orders).map(|seed| (offer(seed).id, 2)).collect();
    expected.sort();
    assert_eq!(taken, expected);
}

pub async fn an_offer_either_lapses_or_is_begun(subject: StoreUnderTest) {
    for seed in 1..=RUNNERS {
        subject.store.offer(named(seed)).await.unwrap();
    }
    let (over, limits) = (NOW.plus(OFFER_SECONDS), TidyLimits::DEFAULT);
    let results = race(&subject, 0..=RUNNERS, |subject, seed| async move {
        match seed {
            0 => subject.store.tidy(over, limits).await.map(|tidied| Err(tidied.lapsed)),
            seed => subject.record(begun(named(seed), seed)).await.map(Ok),
        }
    })
    .await;
    let (mut begun, mut lapsed) = (0, 0);
    for (seed, result) in results {
        match result {
            Ok(Ok(settling)) => {
                begun += 1;
                assert_eq!(subject.store.find(settling.id).await, Ok(Some(settling.into())));
            }
            Ok(Err(count)) => lapsed = count,
            Err(error) => {
                assert_eq!(error, StoreError::Moved, "{seed}");
                let kept = subject.store.find(named(seed).id).await.unwrap().unwrap();
                assert!(matches!(kept, Stored::Lapsed(_)), "{kept:?}");
            }
        }
    }
    assert_eq!(begun + lapsed, RUNNERS);
}

pub async fn an_offer_made_by_many_at_once_is_one_offer(subject: StoreUnderTest) {
    let later = |seconds| -> Order<Offered> {
        let first = named(1);
        Order::offer(first.id, first.operation, NOW.plus(seconds))
    };
    let results = race(&subject, 1..=RUNNERS, |subject, seconds| {
        let fresh = later(seconds);
        async move { subject.store.offer(fresh).await }
    })
    .await;
    let kept = subject.store.find(named(1).id).await.unwrap().unwrap();
    assert!(results.into_iter().all(|(_, offered)| offered.as_ref() == Ok(&kept)));
}
