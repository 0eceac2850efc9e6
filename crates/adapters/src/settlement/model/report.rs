//! The counts of a scenario, and the rules that it checks.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Payments in one scenario: enough to fill a batch after a crash.
pub const PAYMENTS_PER_SCENARIO: u64 = 12;
/// Milliseconds with faults, and without them until everything must be at rest.
pub(super) const FAULTS_END: u64 = 20_000;
pub(super) const SCENARIO_END: u64 = FAULTS_END + 90_000;

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

/// The counts of many scenarios.
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
    /// The seed of the first scenario that broke a rule.
    pub first_failure: Option<u64>,
}

impl SenderReport {
    pub fn is_clean(&self) -> bool {
        self.breaches.is_empty()
    }

    pub(super) fn merge(&mut self, seed: u64, other: Self) {
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

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
