//! A seeded model of senders that crash, lose their lease and meet a node that forgets.
//!
//! The real sender runs on simulated time against a chain and an outbox in memory. Two
//! processes settle payments; the outbox loses answers, the node drops, strands and delays
//! transactions, blocks are reorganised, processes are killed or lose their lease while
//! they go on. After the faults end, every payment must be in a block or certainly unsent.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use order::testing::fakes::fates::Dice;
use order::testing::simulation::executor::{Executor, Stage};
use order::testing::simulation::seed_of;

mod chain;
mod outbox;
mod process;

use self::chain::ModelChain;
use self::process::Story;

/// Payments in one story: enough to fill a batch after a crash.
pub const PAYMENTS_IN_A_STORY: u64 = 12;
/// Milliseconds with faults, and without them until everything must be at rest.
const FAULTS_END: u64 = 20_000;
const STORY_END: u64 = FAULTS_END + 90_000;

/// What must never happen, whatever goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SenderBreach {
    /// A transaction was sent that was not in the outbox.
    SentBeforeCommit,
    /// A nonce was sent before the one below it.
    SentOutOfOrder,
    /// Two payments were sent under one nonce.
    NonceShared,
    /// A payment was sent under a second nonce while the first could still go in.
    SecondNonce,
    /// A payment was called unsent and was sent.
    SentAfterWithdrawal,
    /// A payment was neither in a block nor refused long after the faults had ended.
    Stuck,
}

impl SenderBreach {
    pub const ALL: [Self; 6] = [
        Self::SentBeforeCommit,
        Self::SentOutOfOrder,
        Self::NonceShared,
        Self::SecondNonce,
        Self::SentAfterWithdrawal,
        Self::Stuck,
    ];

    pub const fn words(self) -> &'static str {
        match self {
            Self::SentBeforeCommit => "transaction sent before its nonce was committed",
            Self::SentOutOfOrder => "nonce sent before the one below it",
            Self::NonceShared => "two payments sent under one nonce",
            Self::SecondNonce => "payment sent under a second nonce too early",
            Self::SentAfterWithdrawal => "payment sent after it was called unsent",
            Self::Stuck => "payment stuck after the faults had ended",
        }
    }
}

/// What happened in many stories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SenderReport {
    pub payments: u64,
    pub settled: u64,
    pub unsent: u64,
    pub failed: u64,
    pub crashes: u64,
    pub leases_lost: u64,
    pub reorganisations: u64,
    pub replacements: u64,
    pub breaches: BTreeMap<SenderBreach, u64>,
    /// The seed of the first story that broke a rule.
    pub first_failure: Option<u64>,
}

impl SenderReport {
    pub fn is_clean(&self) -> bool {
        self.breaches.is_empty()
    }

    fn merge(&mut self, seed: u64, other: Self) {
        if !other.breaches.is_empty() && self.first_failure.is_none() {
            self.first_failure = Some(seed);
        }
        self.payments += other.payments;
        self.settled += other.settled;
        self.unsent += other.unsent;
        self.failed += other.failed;
        self.crashes += other.crashes;
        self.leases_lost += other.leases_lost;
        self.reorganisations += other.reorganisations;
        self.replacements += other.replacements;
        for (breach, count) in other.breaches {
            *self.breaches.entry(breach).or_default() += count;
        }
    }
}

/// Tells as many stories as `payments` need.
pub fn run(payments: u64, seed: u64) -> SenderReport {
    let mut report = SenderReport::default();
    for story in 0..payments.div_ceil(PAYMENTS_IN_A_STORY) {
        let seed = seed_of(seed, story);
        report.merge(seed, tell(seed));
    }
    report
}

/// One story, from its seed alone.
pub fn tell(seed: u64) -> SenderReport {
    let stage = Arc::new(Stage::default());
    let chain = Arc::new(ModelChain::new(stage.clone(), Dice::new(seed ^ 0xc4a1), FAULTS_END));
    let story = Arc::new(Story::new(stage.clone(), chain, Dice::new(seed ^ 0x5707)));
    story.begin();
    let mut executor = Executor::new(stage, Dice::new(seed));
    executor.run(STORY_END, |_| {});
    story.report()
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_tells_the_same_story() {
        for seed in 0..20 {
            assert_eq!(tell(seed), tell(seed));
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
