//! A call budget that several processes share in PostgreSQL.

use std::sync::Arc;

use adapters::provider::budget::{AccountStanding, BudgetExhausted, CallPurpose, CallRate};
use tokio::task::JoinSet;

use super::{ACCOUNT, DatabaseClock, HOLD, RATE, own_budget, rest, shared_budget, with_database};

/// How often each task asks. All of them together ask for many times what there is.
const TRIES: usize = 8;

/// What a task of the crowd does: every kind of call that there is.
const ASKING: [CallPurpose; 4] =
    [CallPurpose::Preview, CallPurpose::Buyer, CallPurpose::Reconciler, CallPurpose::Paid];

#[test]
fn two_processes_at_once_never_exceed_the_account_together() {
    with_database(async |clock| {
        let stores = [clock.store().await, clock.store().await];
        let budgets = [&stores[0], &stores[1]].map(|store| Arc::new(shared_budget(store)));
        for round in 0..3 {
            let mut crowd = JoinSet::new();
            for budget in &budgets {
                for task in 0..16 {
                    let (budget, caller) = (budget.clone(), ASKING[task % ASKING.len()]);
                    crowd.spawn(async move {
                        let mut calls = 0;
                        for _ in 0..TRIES {
                            calls += usize::from(budget.take(caller).await.is_ok());
                            let reserved = budget.reserve().await;
                            if reserved.is_ok() {
                                budget.take_reserved().await.unwrap();
                                calls += 1;
                            }
                        }
                        calls
                    });
                }
            }
            let calls: usize = crowd.join_all().await.into_iter().sum();
            assert_eq!(calls, RATE.calls(), "round {round}: all of it, and no more");
            for budget in &budgets {
                let taken = budget.take(CallPurpose::Preview).await;
                assert_eq!(taken, Err(BudgetExhausted), "and writes what is not written yet");
            }
            clock.shift(63).await;
        }
        for store in stores {
            store.close().await.unwrap();
        }
    });
}

#[test]
fn what_one_process_does_another_one_sees() {
    with_database(async |clock| {
        let stores = [clock.store().await, clock.store().await];
        let [one, other] = [&stores[0], &stores[1]].map(shared_budget);
        assert_eq!(rest(&one, CallPurpose::Preview).await, RATE.preview);
        assert_eq!(rest(&other, CallPurpose::Preview).await, 0);
        one.reserve().await.unwrap();
        assert_eq!(rest(&other, CallPurpose::Buyer).await, RATE.paid - 1);
        assert_eq!(other.take_reserved().await, Ok(()));
        assert_eq!(one.take(CallPurpose::Buyer).await, Err(BudgetExhausted));
        clock.shift(63).await;
        assert_eq!(other.reserve().await, Ok(()));
        for _ in 0..3 {
            one.note(AccountStanding::Refused).await;
        }
        assert_eq!(other.reserve().await, Err(BudgetExhausted), "refused there is refused here");
        let lob = own_budget().0.shared_through(stores[0].provider_budget("Lob"));
        assert_eq!(rest(&lob, CallPurpose::Paid).await, RATE.calls(), "another account's");
        for store in stores {
            store.close().await.unwrap();
        }
    });
}

#[test]
fn a_release_without_a_reservation_leaves_those_of_other_processes() {
    with_database(async |clock| {
        let stores = [clock.store().await, clock.store().await];
        let [one, other] = [&stores[0], &stores[1]].map(shared_budget);
        one.reserve().await.unwrap();
        other.release().await;
        other.reserve().await.unwrap();
        other.release().await;
        other.release().await;
        let buyers = RATE.calls() - RATE.reconciler;
        assert_eq!(rest(&other, CallPurpose::Buyer).await, buyers - 1);
        assert_eq!(one.take_reserved().await, Ok(()));
        for store in stores {
            store.close().await.unwrap();
        }
    });
}

/// An account whose processes reserve sixteen calls ahead.
const LARGE: CallRate = CallRate { seconds: 60, paid: 960, reconciler: 0, preview: 0 };

#[test]
fn calls_that_are_reserved_ahead_need_no_database_and_count_for_all() {
    with_database(async |clock| {
        let stores = [clock.store().await, clock.store().await];
        let [one, other] = [&stores[0], &stores[1]].map(|it| shared_budget(it).at_rate(LARGE));
        one.reserve().await.unwrap();
        clock.client.batch_execute(HOLD).await.unwrap();
        for _ in 0..16 {
            assert_eq!(one.reserve().await, Ok(()));
        }
        for _ in 0..17 {
            assert_eq!(one.take_reserved().await, Ok(()));
        }
        clock.client.batch_execute("ROLLBACK").await.unwrap();
        assert_eq!(rest(&other, CallPurpose::Buyer).await, LARGE.paid - 17);
        for store in stores {
            store.close().await.unwrap();
        }
    });
}

#[test]
fn a_reserved_call_that_was_made_is_written_without_another_entry() {
    with_database(async |clock| {
        let store = clock.store().await;
        let budget = shared_budget(&store);
        budget.reserve().await.unwrap();
        budget.take_reserved().await.unwrap();
        let written = "SELECT ledger->'reserved' = '[]' FROM provider_budget";
        while !clock.client.query_one(written, &[]).await.unwrap().get::<_, bool>(0) {
            tokio::task::yield_now().await;
        }
        assert_eq!(rest(&budget, CallPurpose::Buyer).await, RATE.calls() - 1 - RATE.reconciler);
        store.close().await.unwrap();
    });
}

#[test]
fn an_account_that_is_refused_gives_its_spare_calls_back() {
    with_database(async |clock| {
        let store = clock.store().await;
        let budget = shared_budget(&store).at_rate(LARGE);
        budget.reserve().await.unwrap();
        for _ in 0..3 {
            budget.note(AccountStanding::Refused).await;
        }
        assert_eq!(budget.reserve().await, Err(BudgetExhausted));
        assert_eq!(
            rest(&budget, CallPurpose::Paid).await,
            LARGE.paid - 1,
            "the card keeps its own"
        );
        store.close().await.unwrap();
    });
}

#[test]
fn the_reservations_of_a_process_that_died_expire() {
    with_database(async |clock| {
        let dead = clock.store().await;
        let budget = shared_budget(&dead);
        for _ in 0..RATE.calls() {
            let _ = budget.reserve().await;
        }
        drop((budget, dead));
        let store = clock.store().await;
        let budget = shared_budget(&store);
        assert_eq!(budget.reserve().await, Err(BudgetExhausted));
        clock.shift(120).await;
        assert_eq!(budget.reserve().await, Err(BudgetExhausted));
        clock.shift(1).await;
        assert_eq!(budget.reserve().await, Ok(()));
        store.close().await.unwrap();
    });
}

#[test]
fn a_database_clock_that_is_set_back_neither_frees_nor_blocks_calls() {
    with_database(async |clock| {
        let store = clock.store().await;
        let budget = shared_budget(&store);
        assert_eq!(rest(&budget, CallPurpose::Paid).await, RATE.calls());
        clock.shift(-86_400).await;
        assert_eq!(rest(&budget, CallPurpose::Paid).await, 0);
        clock.shift(62).await;
        assert_eq!(rest(&budget, CallPurpose::Paid).await, 0);
        clock.shift(1).await;
        assert_eq!(rest(&budget, CallPurpose::Paid).await, RATE.calls());
        store.close().await.unwrap();
    });
}

#[test]
fn a_row_that_cannot_be_read_counts_as_no_answer() {
    with_database(async |clock| {
        let store = clock.store().await;
        let budget = shared_budget(&store);
        budget.take(CallPurpose::Preview).await.unwrap();
        let damage = format!("UPDATE provider_budget SET ledger = '7' WHERE account = '{ACCOUNT}'");
        clock.client.batch_execute(&damage).await.unwrap();
        assert_eq!(budget.take(CallPurpose::Preview).await, Err(BudgetExhausted));
        assert_eq!(budget.take(CallPurpose::Paid).await, Ok(()));
        store.close().await.unwrap();
    });
}

#[test]
fn a_paid_card_goes_before_the_previews_that_wait_for_the_row() {
    with_database(async |clock| {
        let store = clock.store().await;
        let one_call = CallRate { seconds: 60, paid: 0, reconciler: 0, preview: 1 };
        let budget = shared_budget(&store).at_rate(one_call);
        budget.note(AccountStanding::Refused).await;
        clock.client.batch_execute(HOLD).await.unwrap();
        // The first waits in the database; the others come while it does, the preview first.
        let while_it_waits = async {
            wait_for_the_row(&clock).await;
            tokio::join!(
                budget.take(CallPurpose::Preview),
                budget.take(CallPurpose::Paid),
                clock.client.batch_execute("ROLLBACK"),
            )
        };
        let ((), (preview, paid, released)) =
            tokio::join!(budget.note(AccountStanding::Refused), while_it_waits);
        released.unwrap();
        assert_eq!((preview, paid), (Err(BudgetExhausted), Ok(())));
        store.close().await.unwrap();
    });
}

/// Until another connection waits for the row that this one holds.
async fn wait_for_the_row(clock: &DatabaseClock) {
    let waiting = "SELECT EXISTS (
             SELECT FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))
         )";
    while !clock.client.query_one(waiting, &[]).await.unwrap().get::<_, bool>(0) {
        tokio::task::yield_now().await;
    }
}
