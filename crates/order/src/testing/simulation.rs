//! A seeded simulation of the real core: a million orders in bad weather, and the books at the end.
//!
//! One story has its own world, a few payers and one or two processes; it is
//! told from its seed alone, so a failure can be told again. Nothing of the
//! desk, the moves or the reconciler is replaced: only the world is.

#![expect(clippy::unwrap_used, reason = "a poisoned lock in a simulation is a failed simulation")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::testing::fakes::fates::Dice;
use report::Report;

pub mod executor;
mod payer;
pub mod report;
pub mod story;
mod weather;

/// Payers in one story: enough to get into each other's way.
pub const ORDERS_IN_A_STORY: u64 = 2;

/// Tells as many stories as `orders` need, on so many threads. The result does
/// not depend on their number. `told` counts the orders that are done.
pub fn run(orders: u64, seed: u64, threads: usize, told: &AtomicU64) -> Report {
    let stories = orders.div_ceil(ORDERS_IN_A_STORY);
    let next = AtomicU64::new(0);
    let work = || {
        let mut report = Report::default();
        loop {
            let story = next.fetch_add(1, Ordering::Relaxed);
            if story >= stories {
                return report;
            }
            let count = ORDERS_IN_A_STORY.min(orders - story * ORDERS_IN_A_STORY);
            report.merge(story::tell(story, seed_of(seed, story), count, story::Journal::None).0);
            told.fetch_add(count, Ordering::Relaxed);
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        let mut report = Report::default();
        for worker in workers {
            report.merge(worker.join().expect("a story never panics"));
        }
        report
    })
}

/// The first story's seed is the one that was given, so that the seed of any
/// story tells that story again.
pub fn seed_of(seed: u64, story: u64) -> u64 {
    if story == 0 {
        seed
    } else {
        Dice::new(seed ^ story.wrapping_mul(0x2545_f491_4f6c_dd1d)).roll()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_report_on_any_number_of_threads() {
        let run = |threads| run(400, 42, threads, &AtomicU64::new(0));
        assert_eq!(run(1), run(2));
    }

    #[test]
    fn ten_thousand_orders_in_bad_weather_break_no_promise() {
        let report = run(10_000, 1840, 2, &AtomicU64::new(0));
        assert!(report.is_clean(), "{report:#?}");
        assert!(report.get(report::Count::Crashes) > 1_000, "the weather was too good");
    }
}
