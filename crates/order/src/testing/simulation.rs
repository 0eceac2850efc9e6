//! A seeded simulation of the real core: a million orders with faults, and an audit at the end.
//!
//! One scenario has its own fakes, a few payers and one or two processes. It
//! depends on its seed only, so a failure can be replayed. Only the ports are
//! replaced: checkout, transitions and reconciler are the real ones.

#![expect(clippy::unwrap_used, reason = "a poisoned lock in a simulation is a failed simulation")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::testing::fakes::fault_schedule::SeededRng;
use report::SimulationReport;

mod disturbances;
pub mod executor;
mod payer;
pub mod report;
pub mod run;
pub mod scenario;

/// Payers in one scenario: enough for conflicts between them.
pub const ORDERS_PER_SCENARIO: u64 = 2;

/// Runs as many scenarios as `orders` need. The result does not depend on the
/// number of threads. `done` counts the orders that are finished.
pub fn run(orders: u64, seed: u64, threads: usize, done: &AtomicU64) -> SimulationReport {
    let scenarios = orders.div_ceil(ORDERS_PER_SCENARIO);
    let next = AtomicU64::new(0);
    let work = || {
        let mut report = SimulationReport::default();
        loop {
            let scenario = next.fetch_add(1, Ordering::Relaxed);
            if scenario >= scenarios {
                return report;
            }
            let count = ORDERS_PER_SCENARIO.min(orders - scenario * ORDERS_PER_SCENARIO);
            report.merge(
                run::run_scenario(
                    scenario,
                    seed_of(seed, scenario),
                    count,
                    scenario::ScenarioLog::Off,
                )
                .0,
            );
            done.fetch_add(count, Ordering::Relaxed);
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        let mut report = SimulationReport::default();
        for worker in workers {
            report.merge(worker.join().expect("a scenario never panics"));
        }
        report
    })
}

/// The first scenario has the given seed, so that the seed of any scenario
/// replays it.
pub fn seed_of(seed: u64, scenario: u64) -> u64 {
    if scenario == 0 {
        seed
    } else {
        SeededRng::new(seed ^ scenario.wrapping_mul(0x2545_f491_4f6c_dd1d)).next_u64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fakes::coverage::Coverage;

    #[test]
    fn the_same_seed_gives_the_same_report_on_any_number_of_threads() {
        let run = |threads| run(400, 42, threads, &AtomicU64::new(0));
        assert_eq!(run(1), run(2));
    }

    #[test]
    fn ten_thousand_orders_with_faults_violate_no_invariant() {
        let report = run(10_000, 1840, 2, &AtomicU64::new(0));
        println!("{}", report.incidents.table(Coverage::Simulation));
        assert!(report.is_clean(), "{report:#?}");
        assert!(
            report.get(report::SimulationCount::Crashes) > 1_000,
            "too few crashes to be a test"
        );
    }
}
