//! What the handles of both providers' accounts have in common: rate, shared budget, purpose.

use std::num::NonZero;
use std::sync::Arc;

use super::account_client::AccountClient;
use super::budget::{CallBudget, CallPurpose, CallRate, SharedBudget};

/// A handle of an account for one purpose. Handles made from one another share budget and
/// connections.
pub trait AccountHandle: Sized {
    /// The name of the provider in the log.
    const PEER: &'static str;
    /// What the provider allows an account without a contract for more.
    const RATE: CallRate;

    fn account_client(&self) -> &AccountClient;

    /// The same handle with another client.
    #[must_use]
    fn with_account_client(&self, client: AccountClient) -> Self;

    /// For an account with a multiple of the [rate](Self::RATE).
    #[must_use]
    fn calling(&self, times: NonZero<u16>) -> Self {
        self.with_account_client(self.account_client().clone().at_rate(Self::RATE.times(times)))
    }

    /// Shares the budget with other processes: `open` is given the name of the shared budget. If
    /// it returns none, the budget stays in this process.
    #[must_use]
    fn sharing(&self, open: impl FnOnce(&str) -> Option<Arc<dyn SharedBudget>>) -> Self {
        self.with_account_client(self.account_client().clone().sharing(open))
    }

    /// The budget of the account's calls.
    fn budget(&self) -> Arc<CallBudget> {
        self.account_client().budget()
    }

    #[must_use]
    fn for_reconciler(&self) -> Self {
        self.with_account_client(self.account_client().with_purpose(CallPurpose::Reconciler))
    }

    #[must_use]
    fn for_previews(&self) -> Self {
        self.with_account_client(self.account_client().with_purpose(CallPurpose::Preview))
    }
}
