//! A seeded model of senders that crash, lose their lease and meet a node that forgets.
//!
//! The real sender runs on simulated time against a chain and an outbox in memory. Two
//! processes settle payments; the outbox loses answers, the node drops, strands and delays
//! transactions, blocks are reorganised, processes are killed or lose their lease while
//! they go on. After the faults end, every payment must be in a block or certainly unsent.

use std::sync::Arc;

use order::testing::fakes::fault_schedule::SeededRng;
use order::testing::simulation::executor::{Executor, ExecutorHandle};
use order::testing::simulation::seed_of;

mod chain;
mod outbox;
mod process;
mod report;

use self::chain::ModelChain;
use self::process::Scenario;
use self::report::{FAULTS_END, SCENARIO_END};

pub use self::report::{PAYMENTS_PER_SCENARIO, SenderBreach, SenderReport};

/// Runs as many scenarios as `payments` need.
pub fn run(payments: u64, seed: u64) -> SenderReport {
    let mut report = SenderReport::default();
    for scenario in 0..payments.div_ceil(PAYMENTS_PER_SCENARIO) {
        let seed = seed_of(seed, scenario);
        report.merge(seed, run_scenario(seed));
    }
    report
}

/// Runs one scenario from its seed.
pub fn run_scenario(seed: u64) -> SenderReport {
    let handle = Arc::new(ExecutorHandle::default());
    let chain =
        Arc::new(ModelChain::new(handle.clone(), SeededRng::new(seed ^ 0xc4a1), FAULTS_END));
    let scenario = Arc::new(Scenario::new(handle.clone(), chain, SeededRng::new(seed ^ 0x5707)));
    scenario.begin();
    let mut executor = Executor::new(handle, SeededRng::new(seed));
    executor.run(SCENARIO_END, |_| {});
    scenario.report()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_report() {
        for seed in 0..20 {
            assert_eq!(run_scenario(seed), run_scenario(seed));
        }
    }

    #[test]
    fn senders_with_faults_at_every_step_break_no_rule() {
        let report = run(3_000, 1840);
        assert!(report.is_clean(), "{report:#?}");
        let enough = [report.settled, report.crashes, report.leases_lost, report.replacements];
        assert!(enough.iter().all(|count| *count > 50), "{report:#?}");
        assert!(report.unsent > 5 && report.failed > 5, "{report:#?}");
    }
}
