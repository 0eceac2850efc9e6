//! The rules of a call budget, in the process and in PostgreSQL.

use adapters::provider::budget::{
    ANSWER_SECONDS, AccountStanding, BudgetExhausted, CallBudget, CallPurpose,
};

use super::{RATE, Subject, Time, own_budget, rest, shared_budget, with_database};
use crate::test_store::runtime;

macro_rules! contract {
    ($($name:ident),+ $(,)?) => {
        mod in_the_process {
            $(#[test] fn $name() { super::put_in_the_process(super::$name); })+
        }
        mod in_postgres {
            $(#[test] fn $name() { super::put_in_postgres(super::$name); })+
        }
    };
}

contract!(
    an_account_that_may_call_more_often_shares_it_out_alike,
    a_payer_may_use_everything,
    the_reconciler_leaves_what_is_kept_for_payers,
    previews_have_their_own_share_and_no_more,
    what_payers_took_from_their_own_share_is_not_kept_twice,
    concurrent_payers_use_the_previews_share_first,
    a_paid_card_finds_the_call_that_was_reserved,
    a_reservation_that_is_not_used_expires,
    a_released_reservation_is_free_again,
    no_card_is_sold_while_the_account_is_refused,
    no_stretch_of_a_minute_sees_more_than_the_account_allows,
    the_calls_left_are_those_neither_made_nor_reserved,
);

fn put_in_the_process<C: Future<Output = ()>>(check: impl FnOnce(Subject) -> C) {
    runtime().block_on(async {
        let (budget, clock) = own_budget();
        let forgotten = RATE.seconds + 1;
        check(Subject { budget, time: Time::OfTheProcess(clock), forgotten }).await;
    });
}

fn put_in_postgres<C: Future<Output = ()>>(check: impl FnOnce(Subject) -> C) {
    with_database(async |clock| {
        let store = clock.store().await;
        let budget = shared_budget(&store);
        let forgotten = RATE.seconds + ANSWER_SECONDS + 1;
        check(Subject { budget, time: Time::OfTheDatabase(clock), forgotten }).await;
        store.close().await.unwrap();
    });
}

async fn an_account_that_may_call_more_often_shares_it_out_alike(subject: Subject) {
    let budget = subject.budget.at_rate(RATE.times(3.try_into().unwrap()));
    assert_eq!(rest(&budget, CallPurpose::Preview).await, 45);
    assert_eq!(rest(&budget, CallPurpose::Reconciler).await, 45);
    assert_eq!(rest(&budget, CallPurpose::Paid).await, 90);
}

async fn a_payer_may_use_everything(subject: Subject) {
    assert_eq!(rest(&subject.budget, CallPurpose::Paid).await, 60);
    subject.time.pass(subject.forgotten - 1).await;
    assert_eq!(rest(&subject.budget, CallPurpose::Paid).await, 0);
    subject.time.pass(1).await;
    assert_eq!(rest(&subject.budget, CallPurpose::Paid).await, 60);
}

async fn the_reconciler_leaves_what_is_kept_for_payers(Subject { budget, .. }: Subject) {
    assert_eq!(rest(&budget, CallPurpose::Reconciler).await, 30);
    assert_eq!(rest(&budget, CallPurpose::Preview).await, 0);
    assert_eq!(rest(&budget, CallPurpose::Paid).await, 30);
}

async fn previews_have_their_own_share_and_no_more(Subject { budget, .. }: Subject) {
    assert_eq!(rest(&budget, CallPurpose::Preview).await, 15);
    assert_eq!(rest(&budget, CallPurpose::Reconciler).await, 15);
    assert_eq!(rest(&budget, CallPurpose::Paid).await, 30);
    assert_eq!(rest(&budget, CallPurpose::Paid).await, 0);
}

async fn what_payers_took_from_their_own_share_is_not_kept_twice(subject: Subject) {
    let Subject { budget, .. } = subject;
    for _ in 0..20 {
        budget.take(CallPurpose::Paid).await.unwrap();
    }
    assert_eq!(rest(&budget, CallPurpose::Reconciler).await, 30);
    assert_eq!(rest(&budget, CallPurpose::Paid).await, 10);
}

async fn concurrent_payers_use_the_previews_share_first(Subject { budget, .. }: Subject) {
    for _ in 0..45 {
        budget.take(CallPurpose::Paid).await.unwrap();
    }
    assert_eq!(rest(&budget, CallPurpose::Preview).await, 0);
    assert_eq!(rest(&budget, CallPurpose::Reconciler).await, 15);
}

async fn a_paid_card_finds_the_call_that_was_reserved(subject: Subject) {
    let Subject { budget, time, forgotten } = subject;
    for _ in 0..22 {
        assert_eq!(budget.take(CallPurpose::Buyer).await, Ok(()));
        assert_eq!(budget.reserve().await, Ok(()));
    }
    assert_eq!(budget.take(CallPurpose::Buyer).await, Ok(()));
    assert_eq!(budget.reserve().await, Err(BudgetExhausted));
    assert_eq!(rest(&budget, CallPurpose::Preview).await, 0);
    assert_eq!(rest(&budget, CallPurpose::Reconciler).await, 15, "the reconciler keeps its share");
    assert_eq!(budget.take(CallPurpose::Paid).await, Err(BudgetExhausted));
    for _ in 0..22 {
        assert_eq!(budget.take_reserved().await, Ok(()));
    }
    assert_eq!(budget.take_reserved().await, Err(BudgetExhausted));
    time.pass(forgotten).await;
    assert_eq!(budget.take_reserved().await, Ok(()), "without a reservation, where there is room");
}

/// How many calls can be reserved.
async fn reservations(budget: &CallBudget) -> usize {
    let mut reserved = 0;
    while reserved < 1_000 && budget.reserve().await.is_ok() {
        reserved += 1;
    }
    reserved
}

async fn a_reservation_that_is_not_used_expires(Subject { budget, time, .. }: Subject) {
    assert_eq!(reservations(&budget).await, 45);
    time.pass(120).await;
    assert_eq!(budget.reserve().await, Err(BudgetExhausted));
    time.pass(1).await;
    assert_eq!(rest(&budget, CallPurpose::Paid).await, 60);
}

async fn a_released_reservation_is_free_again(Subject { budget, time, .. }: Subject) {
    assert_eq!(reservations(&budget).await, 45);
    budget.release().await;
    assert_eq!(reservations(&budget).await, 1);
    for _ in 0..45 {
        time.pass(1).await;
        budget.release().await;
    }
    budget.release().await;
    assert_eq!(reservations(&budget).await, 45);
}

async fn no_card_is_sold_while_the_account_is_refused(Subject { budget, time, .. }: Subject) {
    for said in [
        AccountStanding::Refused,
        AccountStanding::Refused,
        AccountStanding::Served,
        AccountStanding::Refused,
    ] {
        budget.note(said).await;
        assert_eq!(budget.reserve().await, Ok(()), "a refusal now and then is no outage");
    }
    budget.note(AccountStanding::Refused).await;
    budget.note(AccountStanding::Refused).await;
    assert_eq!(budget.reserve().await, Err(BudgetExhausted));
    assert_eq!(budget.take_reserved().await, Ok(()), "a paid card is tried all the same");
    time.pass(60).await;
    assert_eq!(budget.reserve().await, Err(BudgetExhausted));
    time.pass(1).await;
    assert_eq!(budget.reserve().await, Ok(()), "one card has to try");
    budget.note(AccountStanding::Refused).await;
    assert_eq!(budget.reserve().await, Err(BudgetExhausted));
    budget.note(AccountStanding::Served).await;
    assert_eq!(budget.reserve().await, Ok(()));
}

async fn no_stretch_of_a_minute_sees_more_than_the_account_allows(subject: Subject) {
    let Subject { budget, time, .. } = subject;
    let mut made = Vec::new();
    for second in 0..300_u64 {
        for caller in [CallPurpose::Preview, CallPurpose::Reconciler, CallPurpose::Buyer] {
            made.extend(budget.take(caller).await.ok().map(|()| second));
        }
        let _ = budget.reserve().await;
        if second % 7 < 3 {
            made.extend(budget.take_reserved().await.ok().map(|()| second));
        }
        time.pass(1).await;
    }
    for from in 0..300 {
        let within = made.iter().filter(|at| (from..=from + 60).contains(*at)).count();
        assert!(within <= 60, "{within} from second {from}");
    }
    assert!(made.len() > 230, "a budget that is never given out: {}", made.len());
}

async fn the_calls_left_are_those_neither_made_nor_reserved(subject: Subject) {
    let Subject { budget, time, forgotten } = subject;
    budget.take(CallPurpose::Paid).await.unwrap();
    budget.take(CallPurpose::Preview).await.unwrap();
    assert_eq!(budget.calls_left(), Some(58));
    time.pass(forgotten).await;
    budget.take(CallPurpose::Look).await.unwrap();
    assert_eq!(budget.calls_left(), Some(59));
    budget.reserve().await.unwrap();
    // In PostgreSQL a process may reserve a few more ahead.
    assert!(budget.calls_left() < Some(59), "{:?}", budget.calls_left());
}
