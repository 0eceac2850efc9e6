//! The call budget of a provider account, shared by all callers.
//!
//! [`CallLedger`] has the rules. It is kept in this process, or, if several processes use one
//! account, in their database ([`SharedBudget`]).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use order::ports::{Clock, StoreError};

mod ledger;
mod rate;

pub(crate) use ledger::RESERVATION_SECONDS;
pub use ledger::{CallLedger, LedgerEntry};
pub use rate::{AccountStanding, BudgetExhausted, CallPurpose, CallRate};

/// An account's ledger that processes share.
#[async_trait]
pub trait SharedBudget: Send + Sync {
    /// Applies an entry at the database's time, after every entry that any process has
    /// applied before.
    ///
    /// # Errors
    ///
    /// The outer error if the database did not answer: the entry may have been applied.
    async fn apply(
        &self,
        entry: LedgerEntry,
        rate: CallRate,
    ) -> Result<Result<(), BudgetExhausted>, StoreError>;

    /// How many calls are left, as this process last read the ledger; none before that.
    fn calls_left(&self) -> Option<usize> {
        None
    }
}

/// Timeout for the database. A call is recorded before it is made and may be made that much
/// later, so it counts that much longer in a shared ledger.
pub const ANSWER_SECONDS: u64 = 2;

/// The calls of one account that still count.
pub struct CallBudget {
    rate: CallRate,
    clock: Arc<dyn Clock>,
    shared: Option<Arc<dyn SharedBudget>>,
    own: Mutex<OwnCalls>,
}

/// The calls recorded in this process: all of them, or those made for paid cards while the shared
/// ledger was unavailable. Times are process uptime.
#[derive(Default)]
struct OwnCalls {
    ledger: CallLedger,
    /// How many of them are not in the shared ledger.
    unreported: usize,
}

impl CallBudget {
    /// Kept in this process.
    pub fn new(rate: CallRate, clock: Arc<dyn Clock>) -> Self {
        Self { rate, clock, shared: None, own: Mutex::default() }
    }

    /// The same budget with another rate.
    #[must_use]
    pub fn at_rate(&self, rate: CallRate) -> Self {
        Self { rate, clock: self.clock.clone(), shared: self.shared.clone(), own: Mutex::default() }
    }

    /// The same budget, shared with other processes.
    #[must_use]
    pub fn shared_through(&self, shared: Arc<dyn SharedBudget>) -> Self {
        Self { shared: Some(shared), ..self.at_rate(self.rate) }
    }

    pub const fn rate(&self) -> CallRate {
        self.rate
    }

    /// How many calls are left now, as far as this process knows. Makes no call.
    pub fn calls_left(&self) -> Option<usize> {
        if let Some(shared) = &self.shared {
            return shared.calls_left();
        }
        let (mut own, now) = self.own();
        own.ledger.advance(self.rate, now);
        Some(own.ledger.calls_left(self.rate))
    }

    /// Takes one call, or fails at once: waiting here would delay a payer.
    ///
    /// # Errors
    ///
    /// [`BudgetExhausted`].
    pub async fn take(&self, caller: CallPurpose) -> Result<(), BudgetExhausted> {
        self.apply(LedgerEntry::Take(caller)).await
    }

    /// Takes one call for an owed card, waiting until one is free. Calls with lower precedence
    /// wait too.
    ///
    /// # Errors
    ///
    /// [`BudgetExhausted`], after the account's whole period.
    pub async fn take_or_wait(&self, caller: CallPurpose) -> Result<(), BudgetExhausted> {
        let timeout = self.rate.seconds + ANSWER_SECONDS + 1;
        let begun = self.clock.uptime();
        loop {
            let taken = self.take(caller).await;
            if taken.is_ok() || self.clock.uptime().saturating_sub(begun) > timeout {
                return taken;
            }
            self.clock.wait(1).await;
        }
    }

    /// Reserves a call for a buyer before settlement; fails while the provider refuses the
    /// account.
    ///
    /// # Errors
    ///
    /// [`BudgetExhausted`].
    pub async fn reserve(&self) -> Result<(), BudgetExhausted> {
        self.apply(LedgerEntry::Reserve).await
    }

    /// The settlement did not happen.
    pub async fn release(&self) {
        // A reservation that is not released expires.
        let _ = self.apply(LedgerEntry::Release).await;
    }

    /// Takes the reserved call, or any free one, for a paid card.
    ///
    /// # Errors
    ///
    /// [`BudgetExhausted`].
    pub async fn take_reserved(&self) -> Result<(), BudgetExhausted> {
        self.apply(LedgerEntry::TakeReserved).await
    }

    /// Records whether the provider served the account.
    pub async fn note(&self, standing: AccountStanding) {
        // If this is lost, the next card records it again.
        let _ = self.apply(LedgerEntry::Note(standing)).await;
    }

    async fn apply(&self, entry: LedgerEntry) -> Result<(), BudgetExhausted> {
        let Some(shared) = &self.shared else {
            let (mut own, now) = self.own();
            return own.ledger.apply(entry, self.rate, now);
        };
        let timeout = Duration::from_secs(ANSWER_SECONDS);
        match tokio::time::timeout(timeout, self.ask(shared.as_ref(), entry)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) | Err(_) => self.apply_without_database(entry),
        }
    }

    async fn ask(
        &self,
        shared: &dyn SharedBudget,
        entry: LedgerEntry,
    ) -> Result<Result<(), BudgetExhausted>, StoreError> {
        let rate = CallRate { seconds: self.rate.seconds + ANSWER_SECONDS, ..self.rate };
        let unreported = self.unreported();
        if unreported > 0 {
            let reported = shared.apply(LedgerEntry::Report(unreported), rate).await?;
            debug_assert_eq!(reported, Ok(()), "a report is never refused");
            let (mut own, _) = self.own();
            own.unreported = own.unreported.saturating_sub(unreported);
        }
        shared.apply(entry, rate).await
    }

    /// Paid cards do not wait for the database; all other calls are refused.
    fn apply_without_database(&self, entry: LedgerEntry) -> Result<(), BudgetExhausted> {
        tracing::warn!("The call budget in the database did not answer");
        match entry {
            LedgerEntry::TakeReserved | LedgerEntry::Take(CallPurpose::Paid) => {
                let (mut own, now) = self.own();
                let rate = self.rate.paid_share_only();
                own.ledger.apply(LedgerEntry::Take(CallPurpose::Paid), rate, now)?;
                own.unreported = own.unreported.saturating_add(1);
                Ok(())
            }
            LedgerEntry::Take(
                CallPurpose::Reconciler
                | CallPurpose::Buyer
                | CallPurpose::Look
                | CallPurpose::Preview,
            )
            | LedgerEntry::Reserve
            | LedgerEntry::Release
            | LedgerEntry::Note(_)
            | LedgerEntry::Report(_) => Err(BudgetExhausted),
        }
    }

    /// The calls that still count and are not in the shared ledger.
    fn unreported(&self) -> usize {
        let (mut own, now) = self.own();
        own.ledger.advance(self.rate, now);
        own.unreported = own.unreported.min(own.ledger.calls());
        own.unreported
    }

    fn own(&self) -> (MutexGuard<'_, OwnCalls>, u64) {
        // The time is read under the lock, so that entries are in order of time.
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.uptime();
        (own, now)
    }
}
