//! A call budget while the database does not answer, and afterwards.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use adapters::provider::budget::{
    AccountStanding, BudgetExhausted, CallBudget, CallPurpose, CallRate, LedgerEntry, SharedBudget,
};
use async_trait::async_trait;
use order::ports::{Clock, StoreError};
use tokio::time::timeout;

use super::{HOLD, RATE, own_budget, rest, shared_budget, with_database};
use crate::test_store::runtime;

/// Nothing is begun, and a paid card finds this process's own calls.
async fn is_closed_but_for_paid_cards(budget: &CallBudget) {
    for caller in [CallPurpose::Preview, CallPurpose::Buyer, CallPurpose::Reconciler] {
        assert_eq!(budget.take(caller).await, Err(BudgetExhausted), "{caller:?}");
    }
    assert_eq!(budget.reserve().await, Err(BudgetExhausted));
    budget.release().await;
    budget.note(AccountStanding::Refused).await;
    assert_eq!(budget.take_reserved().await, Ok(()));
    assert_eq!(budget.take(CallPurpose::Paid).await, Ok(()));
}

#[test]
fn without_a_database_only_paid_cards_are_served_and_no_more_than_their_share() {
    with_database(async |clock| {
        let store = clock.store().await;
        let budget = shared_budget(&store);
        budget.reserve().await.unwrap();
        store.close().await.unwrap();
        is_closed_but_for_paid_cards(&budget).await;
        assert_eq!(rest(&budget, CallPurpose::Paid).await, RATE.paid - 2);
        assert_eq!(budget.take_reserved().await, Err(BudgetExhausted));
    });
}

#[test]
fn a_database_that_hangs_is_not_waited_for() {
    with_database(async |clock| {
        let store = clock.store().await;
        let budget = shared_budget(&store);
        budget.take(CallPurpose::Preview).await.unwrap();
        clock.client.batch_execute(HOLD).await.unwrap();
        let answer = timeout(Duration::from_secs(10), budget.take_reserved()).await;
        assert_eq!(answer, Ok(Ok(())));
        assert_eq!(budget.take(CallPurpose::Preview).await, Err(BudgetExhausted));
        clock.client.batch_execute("ROLLBACK").await.unwrap();
        assert_eq!(rest(&budget, CallPurpose::Preview).await, RATE.preview - 1);
        assert_eq!(rest(&budget, CallPurpose::Reconciler).await, RATE.reconciler);
        assert_eq!(rest(&budget, CallPurpose::Paid).await, RATE.paid - 1, "one was made meanwhile");
        store.close().await.unwrap();
    });
}

/// A ledger that can be cut off.
struct Reachable {
    ledger: CallBudget,
    answers: AtomicBool,
}

#[async_trait]
impl SharedBudget for Reachable {
    async fn apply(
        &self,
        entry: LedgerEntry,
        _rate: CallRate,
    ) -> Result<Result<(), BudgetExhausted>, StoreError> {
        if !self.answers.load(Ordering::Relaxed) {
            return Err(StoreError::Lost);
        }
        Ok(match entry {
            LedgerEntry::Take(caller) => self.ledger.take(caller).await,
            LedgerEntry::Report(calls) => {
                for _ in 0..calls {
                    self.ledger.take(CallPurpose::Paid).await.unwrap();
                }
                Ok(())
            }
            LedgerEntry::Reserve
            | LedgerEntry::Release
            | LedgerEntry::TakeReserved
            | LedgerEntry::Note(_) => {
                unreachable!("not asked here")
            }
        })
    }
}

#[test]
fn calls_made_during_an_outage_are_reported_once_and_only_while_they_count() {
    runtime().block_on(async {
        let shared =
            Arc::new(Reachable { ledger: own_budget().0, answers: AtomicBool::new(false) });
        let (own, clock) = own_budget();
        let budget = own.shared_through(shared.clone());
        for _ in 0..5 {
            budget.take(CallPurpose::Paid).await.unwrap();
        }
        shared.answers.store(true, Ordering::Relaxed);
        assert_eq!(rest(&budget, CallPurpose::Paid).await, RATE.calls() - 5);

        // The same again, and a minute passes before the database answers.
        let shared =
            Arc::new(Reachable { ledger: own_budget().0, answers: AtomicBool::new(false) });
        let budget = budget.shared_through(shared.clone());
        for _ in 0..5 {
            budget.take(CallPurpose::Paid).await.unwrap();
        }
        clock.wait(RATE.seconds + 1).await;
        shared.answers.store(true, Ordering::Relaxed);
        assert_eq!(rest(&budget, CallPurpose::Paid).await, RATE.calls());
    });
}
