//! Resubmit, attach, erase, reveal and acknowledge.

use super::*;
use crate::model::mail::Mailpiece;
use crate::reconciler::alert::Alert;
use crate::status::{Status, View};

#[test]
fn an_unknown_outcome_is_resubmitted_once_the_provider_has_no_card() {
    let shop = Shop::after(SimulatedFault::LostBefore);
    assert_eq!((shop.state(), shop.cards()), ("unfulfilled_lost", 0));
    shop.pass_grace();
    assert_eq!(shop.resubmit(), Ok(ActionOutcome::Submitted));
    assert_eq!((shop.state(), shop.cards()), ("mailed", 1));
    assert_eq!(shop.last_event(), ("operator:ada".to_owned(), "resubmit".to_owned()));
}

#[test]
fn a_card_that_exists_is_found_and_not_mailed_twice() {
    let shop = Shop::after(SimulatedFault::LostAfter);
    assert_eq!((shop.state(), shop.cards()), ("unfulfilled_lost", 1));
    shop.pass_grace();
    assert_eq!(shop.resubmit(), Ok(ActionOutcome::CardFound));
    assert_eq!((shop.state(), shop.cards()), ("mailed", 1));
}

#[test]
fn a_lost_card_is_not_resubmitted_before_the_provider_lists_the_last_attempt() {
    let shop = Shop::after(SimulatedFault::LostBefore);
    let grace = PROMISES.grace_seconds();
    let listed_at = shop.world.time().plus(grace);
    shop.time.advance(grace);
    let before = shop.stored();
    assert_eq!(shop.resubmit(), Err(ActionRejection::TooEarly(listed_at)));
    assert_eq!(shop.stored(), before);
    shop.time.advance(1);
    *shop.world.faults.lock().unwrap() = Box::new(Effects(vec![SimulatedFault::LostBefore]));
    assert_eq!(shop.resubmit(), Ok(ActionOutcome::SubmissionFailed));
    let again = shop.resubmit();
    assert!(matches!(again, Err(ActionRejection::TooEarly(_))), "each attempt counts: {again:?}");
    shop.pass_grace();
    assert_eq!((shop.resubmit(), shop.cards()), (Ok(ActionOutcome::Submitted), 1));
}

#[test]
fn a_refused_card_is_resubmitted_without_a_lookup() {
    let shop = Shop::after(SimulatedFault::Refused);
    assert_eq!(shop.resubmit(), Ok(ActionOutcome::Submitted));
    assert_eq!((shop.state(), shop.cards()), ("mailed", 1));
}

#[test]
fn a_resubmission_whose_answer_is_lost_is_reported_and_stays_in_doubt() {
    let shop = Shop::after(SimulatedFault::LostBefore);
    shop.pass_grace();
    *shop.world.faults.lock().unwrap() = Box::new(Effects(vec![SimulatedFault::LostAfter]));
    assert_eq!(shop.resubmit(), Ok(ActionOutcome::SubmissionFailed));
    assert_eq!((shop.state(), shop.cards()), ("unfulfilled_lost", 1));
    shop.pass_grace();
    assert_eq!(shop.resubmit(), Ok(ActionOutcome::CardFound));
}

#[test]
fn a_card_at_another_provider_is_neither_resubmitted_nor_attached() {
    let shop = Shop::after(SimulatedFault::LostBefore);
    shop.world.provider.lock().unwrap().account = "another";
    shop.pass_grace();
    let before = shop.stored();
    assert!(matches!(shop.resubmit(), Err(ActionRejection::NotPossible(_))));
    let attached = shop.actions.attach(&shop.instruction(), &Mailpiece("1".into())).await_now();
    assert!(matches!(attached, Err(ActionRejection::NotPossible(_))));
    assert_eq!(shop.stored(), before);
}

#[test]
fn only_a_card_that_the_provider_confirms_is_attached() {
    let shop = Shop::after(SimulatedFault::LostAfter);
    let card = shop.world.provider.lock().unwrap().mailpieces[0].id.clone();
    let before = shop.stored();
    let other = Mailpiece("another".into());
    let rejected = shop.actions.attach(&shop.instruction(), &other).await_now();
    assert_eq!(rejected, Err(ActionRejection::NotOurCard));
    assert_eq!(shop.stored(), before);
    let attached = shop.actions.attach(&shop.instruction(), &card).await_now();
    assert_eq!((attached, shop.state()), (Ok(ActionOutcome::CardFound), "mailed"));
}

#[test]
fn an_erased_card_is_deleted_and_a_refund_is_due_until_the_card_is_found() {
    let shop = Shop::after(SimulatedFault::LostAfter);
    assert_eq!(shop.erase(), Ok(ActionOutcome::Erased));
    assert_eq!(
        (shop.state(), View::of(&shop.stored()).status),
        ("unfulfilled_erased", Status::RefundDue)
    );
    assert!(matches!(shop.resubmit(), Err(ActionRejection::NotPossible(_))));
    assert!(shop.actions.reveal(&shop.instruction()).await_now().is_err());
    let card = shop.world.provider.lock().unwrap().mailpieces[0].id.clone();
    let attached = shop.actions.attach(&shop.instruction(), &card).await_now();
    assert_eq!((attached, shop.state()), (Ok(ActionOutcome::CardFound), "mailed"));
    assert!(matches!(shop.erase(), Err(ActionRejection::NotPossible(_))));
}

#[test]
fn a_card_is_shown_only_while_it_is_owed_and_that_is_recorded() {
    let shop = Shop::after(SimulatedFault::LostBefore);
    let (seen, public) = (shop.instruction(), View::of(&shop.stored()));
    let card = shop.actions.reveal(&seen).await_now().unwrap();
    assert_eq!(card, crate::testing::fakes::cards::card("card 1"));
    assert_eq!(shop.last_event(), ("operator:ada".to_owned(), "reveal".to_owned()));
    assert_eq!(View::of(&shop.stored()), public, "payers see no change");
    let stale = shop.actions.reveal(&seen).await_now();
    assert_eq!(stale, Err(ActionRejection::Changed));
}

#[test]
fn an_order_that_changed_since_it_was_shown_is_not_acted_on() {
    let shop = Shop::after(SimulatedFault::LostBefore);
    let seen = shop.instruction();
    let note = Instruction { note: "asked the provider".into(), ..seen.clone() };
    assert_eq!(shop.actions.acknowledge(&note).await_now(), Ok(ActionOutcome::Acknowledged));
    let before = shop.stored();
    assert_eq!(shop.actions.resubmit(&seen).await_now(), Err(ActionRejection::Changed));
    assert_eq!(shop.actions.erase(&seen).await_now(), Err(ActionRejection::Changed));
    assert_eq!(shop.actions.acknowledge(&seen).await_now(), Err(ActionRejection::Changed));
    assert_eq!(shop.stored(), before);
    let unknown = Instruction { order: OrderId::from_bytes([9; 16]), ..seen };
    assert_eq!(shop.actions.erase(&unknown).await_now(), Err(ActionRejection::Unknown));
}

/// The alerts of two days.
fn alerts(shop: &Shop) -> usize {
    let told = Mutex::new(0);
    let tell = |_: Alert| *told.lock().unwrap() += 1;
    for _ in 0..2 * 24 * 60 {
        shop.time.advance(60);
        poll_once(shop.process.reconcile(&shop.world.tenders(), &tell)).unwrap().unwrap();
    }
    told.into_inner().unwrap()
}

#[test]
fn an_acknowledged_order_raises_no_alert_until_its_state_changes() {
    let shop = Shop::after(SimulatedFault::LostBefore);
    assert!(alerts(&shop) >= 2);
    shop.actions.acknowledge(&shop.instruction()).await_now().unwrap();
    assert_eq!(alerts(&shop), 0);
    assert_eq!(shop.state(), "unfulfilled_lost", "the reconciler goes on looking");
    shop.erase().unwrap();
    assert!(alerts(&shop) >= 1);
    shop.actions.acknowledge(&shop.instruction()).await_now().unwrap();
    assert_eq!(alerts(&shop), 0);
}

/// The result of a future that does not wait.
trait AwaitNow: Future + Sized {
    fn await_now(self) -> Self::Output {
        poll_once(self).unwrap()
    }
}

impl<F: Future> AwaitNow for F {}
