//! How many calls a provider's account allows, shared by everybody who calls it.
//!
//! The rules are those of a [`Ledger`]. It is kept in this process, or, where several
//! processes call one account, in the database that they share ([`SharedBudget`]).

use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use order::ports::{Clock, StoreError};
use serde::{Deserialize, Serialize};

mod ledger;

pub(crate) use ledger::RESERVATION_SECONDS;
pub use ledger::{Entry, Ledger};

/// On whose behalf a call is made, the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Caller {
    /// Somebody has paid.
    Paid,
    /// The reconciler, for a card that is owed.
    Reconciler,
    /// Somebody wants to pay, and no money has moved.
    Buyer,
    /// The reconciler, to look for a card or after one.
    Look,
    /// Anybody, for nothing.
    Preview,
}

/// What an account allows in any stretch of so many seconds, and how much of it
/// is kept for whom. The three shares together are all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    pub seconds: u64,
    pub paid: usize,
    pub reconciler: usize,
    pub preview: usize,
}

impl Rate {
    /// For an account that may call so many times as often as the usual one.
    #[must_use]
    pub fn times(self, factor: NonZero<u16>) -> Self {
        let more = |calls: usize| calls.saturating_mul(factor.get().into());
        let Self { seconds, paid, reconciler, preview } = self;
        Self { seconds, paid: more(paid), reconciler: more(reconciler), preview: more(preview) }
    }

    pub const fn calls(self) -> usize {
        self.paid + self.reconciler + self.preview
    }

    /// What a process may call for paid cards while the shared ledger cannot be asked.
    const fn without_the_others(self) -> Self {
        Self { reconciler: 0, preview: 0, ..self }
    }
}

/// Whether a provider does anything for our account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Served,
    Refused,
}

/// There is none left for this caller now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent;

/// One account's ledger where all processes find it.
#[async_trait]
pub trait SharedBudget: Send + Sync {
    /// Applies an entry at the database's time, after every entry that any process has
    /// applied before.
    ///
    /// # Errors
    ///
    /// The outer one where the database gave no answer: the entry may have been applied.
    async fn apply(&self, entry: Entry, rate: Rate) -> Result<Result<(), Spent>, StoreError>;
}

/// How long the database has to answer. A call is written down before it is made and may
/// be made that much later, so in a shared ledger it counts that much longer.
pub const ANSWER_SECONDS: u64 = 2;

/// The calls of one account that still count.
pub struct Budget {
    rate: Rate,
    clock: Arc<dyn Clock>,
    shared: Option<Arc<dyn SharedBudget>>,
    own: Mutex<Own>,
}

/// The calls that this process answers for: all of them, or those that it made for paid
/// cards while the shared ledger could not be asked. Times are the process's own uptime.
#[derive(Default)]
struct Own {
    ledger: Ledger,
    /// How many of them the shared ledger does not know of.
    unreported: usize,
}

impl Budget {
    /// Kept in this process.
    pub fn new(rate: Rate, clock: Arc<dyn Clock>) -> Self {
        Self { rate, clock, shared: None, own: Mutex::default() }
    }

    /// The same for an account with another rate.
    #[must_use]
    pub fn at_rate(&self, rate: Rate) -> Self {
        Self { rate, clock: self.clock.clone(), shared: self.shared.clone(), own: Mutex::default() }
    }

    /// The same, shared with the other processes.
    #[must_use]
    pub fn shared_through(&self, shared: Arc<dyn SharedBudget>) -> Self {
        Self { shared: Some(shared), ..self.at_rate(self.rate) }
    }

    pub const fn rate(&self) -> Rate {
        self.rate
    }

    /// Takes one call, or says at once that there is none: a caller who waits
    /// here would keep a payer waiting.
    ///
    /// # Errors
    ///
    /// [`Spent`].
    pub async fn take(&self, caller: Caller) -> Result<(), Spent> {
        self.apply(Entry::Take(caller)).await
    }

    /// The same for a card that is owed: it waits for a call rather than for another round,
    /// and with it waits whatever comes after cards that are owed.
    ///
    /// # Errors
    ///
    /// [`Spent`], after the account's whole period and a little more.
    pub async fn take_in_time(&self, caller: Caller) -> Result<(), Spent> {
        let patience = self.rate.seconds + ANSWER_SECONDS + 1;
        let begun = self.clock.uptime();
        loop {
            let taken = self.take(caller).await;
            if taken.is_ok() || self.clock.uptime().saturating_sub(begun) > patience {
                return taken;
            }
            self.clock.wait(1).await;
        }
    }

    /// Keeps a call for a buyer whose money is about to move; none while the account is
    /// refused anyway.
    ///
    /// # Errors
    ///
    /// [`Spent`].
    pub async fn reserve(&self) -> Result<(), Spent> {
        self.apply(Entry::Reserve).await
    }

    /// The buyer's money did not move.
    pub async fn release(&self) {
        // What the database does not hear of runs out by itself.
        let _ = self.apply(Entry::Release).await;
    }

    /// Takes the call that was reserved, or any other for somebody who has paid.
    ///
    /// # Errors
    ///
    /// [`Spent`].
    pub async fn take_reserved(&self) -> Result<(), Spent> {
        self.apply(Entry::TakeReserved).await
    }

    /// What a card that was submitted has shown about the account.
    pub async fn note(&self, standing: Standing) {
        // What the database does not hear of, the next card shows again.
        let _ = self.apply(Entry::Note(standing)).await;
    }

    async fn apply(&self, entry: Entry) -> Result<(), Spent> {
        let Some(shared) = &self.shared else {
            let (mut own, now) = self.own();
            return own.ledger.apply(entry, self.rate, now);
        };
        let patience = Duration::from_secs(ANSWER_SECONDS);
        match tokio::time::timeout(patience, self.ask(shared.as_ref(), entry)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) | Err(_) => self.without_answer(entry),
        }
    }

    async fn ask(
        &self,
        shared: &dyn SharedBudget,
        entry: Entry,
    ) -> Result<Result<(), Spent>, StoreError> {
        let rate = Rate { seconds: self.rate.seconds + ANSWER_SECONDS, ..self.rate };
        let unreported = self.unreported();
        if unreported > 0 {
            let reported = shared.apply(Entry::Report(unreported), rate).await?;
            debug_assert_eq!(reported, Ok(()), "what was made cannot be refused");
            let (mut own, _) = self.own();
            own.unreported = own.unreported.saturating_sub(unreported);
        }
        shared.apply(entry, rate).await
    }

    /// Money that has moved is not kept waiting by the database; everything else is.
    fn without_answer(&self, entry: Entry) -> Result<(), Spent> {
        tracing::warn!("the provider's rate budget in the database does not answer");
        match entry {
            Entry::TakeReserved | Entry::Take(Caller::Paid) => {
                let (mut own, now) = self.own();
                let rate = self.rate.without_the_others();
                own.ledger.apply(Entry::Take(Caller::Paid), rate, now)?;
                own.unreported = own.unreported.saturating_add(1);
                Ok(())
            }
            Entry::Take(Caller::Reconciler | Caller::Buyer | Caller::Look | Caller::Preview)
            | Entry::Reserve
            | Entry::Release
            | Entry::Note(_)
            | Entry::Report(_) => Err(Spent),
        }
    }

    /// The calls that the shared ledger does not know of and that still count.
    fn unreported(&self) -> usize {
        let (mut own, now) = self.own();
        own.ledger.advance(self.rate, now);
        own.unreported = own.unreported.min(own.ledger.calls());
        own.unreported
    }

    fn own(&self) -> (MutexGuard<'_, Own>, u64) {
        // The time is read under the lock, or a later entry could be of an earlier second.
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.uptime();
        (own, now)
    }
}
