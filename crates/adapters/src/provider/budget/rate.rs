//! The call rate of an account, and the callers that share it.

use std::num::NonZero;

use serde::{Deserialize, Serialize};

/// The purpose of a call, the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallPurpose {
    /// A paid card.
    Paid,
    /// The reconciler submits an owed card.
    Reconciler,
    /// A buyer who has not paid yet.
    Buyer,
    /// The reconciler looks up a card.
    Look,
    /// A free preview.
    Preview,
}

/// The calls that an account allows in any `seconds`, as three shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallRate {
    pub seconds: u64,
    pub paid: usize,
    pub reconciler: usize,
    pub preview: usize,
}

impl CallRate {
    /// For an account with a multiple of the standard rate.
    #[must_use]
    pub fn times(self, factor: NonZero<u16>) -> Self {
        let more = |calls: usize| calls.saturating_mul(factor.get().into());
        let Self { seconds, paid, reconciler, preview } = self;
        Self { seconds, paid: more(paid), reconciler: more(reconciler), preview: more(preview) }
    }

    pub const fn calls(self) -> usize {
        self.paid + self.reconciler + self.preview
    }

    /// What a process may use for paid cards while the shared ledger is unavailable.
    pub(super) const fn paid_share_only(self) -> Self {
        Self { reconciler: 0, preview: 0, ..self }
    }
}

/// Whether the provider serves the account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountStanding {
    Served,
    Refused,
}

/// No call is left for this purpose now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetExhausted;
