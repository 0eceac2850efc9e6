//! Every way in which a settlement goes wrong: how it is sorted, and how the chain ends the doubt.

use order::model::chain::Network;
use order::model::payment::Finality;
use order::ports::Failure;
use order::tender::Unsettled;
use pay::movement::Movement;
use pay::x402::facilitator::Facilitator;
use sandbox::facilitator::fault::{Kind, Operation, Rule};

use crate::town::{Begun, LIFE_SECONDS, Town};

const NETWORK: Network = Network::Base;

/// What the walk must hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heard {
    Moved,
    Lost,
}

/// What a look at the chain must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Moved,
    /// Nothing yet; never, once the promise has run out.
    Nothing,
    /// More than we asked for happened, and a person decides.
    Doubt,
}

fn expected(kind: Kind) -> (Heard, Seen) {
    match kind {
        Kind::CutBefore
        | Kind::HangBefore
        | Kind::RateLimited
        | Kind::StatusBefore
        | Kind::Refused => (Heard::Lost, Seen::Nothing),
        // Our own node does not show what the facilitator reports.
        Kind::Invented => (Heard::Lost, Seen::Nothing),
        Kind::CutAfter
        | Kind::HangAfter
        | Kind::StatusAfter
        | Kind::Garbage
        | Kind::Empty
        | Kind::FailsAfter
        | Kind::WrongAmount
        | Kind::NoAmount
        | Kind::WrongNetwork
        | Kind::WrongPayer
        | Kind::NoTransaction => (Heard::Lost, Seen::Moved),
        Kind::Slow | Kind::Pending | Kind::PendingAs500 => (Heard::Moved, Seen::Moved),
        Kind::MovesLess => (Heard::Lost, Seen::Doubt),
    }
}

async fn struck(town: &Town, rule: Rule) -> (Begun, Result<Heard, Unsettled>, u128) {
    let (before, asked) = (town.paid(NETWORK), town.settlements());
    let begun = town.ready(NETWORK).await;
    town.emulated.add_fault(rule.on(Operation::Settle));
    let heard = match town.settle(&begun).await {
        Ok(_) => Ok(Heard::Moved),
        Err(Unsettled::Lost(_)) => Ok(Heard::Lost),
        Err(refused @ (Unsettled::Refused(_) | Unsettled::Withdrawn(_))) => Err(refused),
    };
    // We may have given up before the facilitator was done.
    while town.settlements() == asked {
        tokio::task::yield_now().await;
    }
    town.emulated.clear_faults();
    (begun, heard, town.paid(NETWORK) - before)
}

#[tokio::test]
async fn every_fault_is_sorted_and_the_chain_ends_every_doubt() {
    for kind in Kind::ALL.iter().copied() {
        let silent = matches!(kind, Kind::HangBefore | Kind::HangAfter);
        let town = if silent { Town::hurried().await } else { Town::seeing().await };
        let (begun, heard, moved) = struck(&town, Rule::new(kind).milliseconds(50).once()).await;
        let (to_hear, to_see) = expected(kind);
        assert_eq!(heard, Ok(to_hear), "{kind:?}");
        let traced = town.trace(&begun).await;
        match to_see {
            Seen::Moved => {
                assert_eq!(moved, 2_117_500, "{kind:?}");
                let Ok(Movement::Moved(found)) = traced else { panic!("{kind:?}: {traced:?}") };
                assert_eq!(found.finality, Finality::Final);
            }
            Seen::Nothing => {
                assert_eq!(moved, 0, "{kind:?}");
                assert_eq!(traced, Ok(Movement::Open), "{kind:?}");
                town.pass(NETWORK, LIFE_SECONDS);
                assert_eq!(town.trace(&begun).await, Ok(Movement::Open), "its last second");
                town.pass(NETWORK, 1);
                assert_eq!(town.trace(&begun).await, Ok(Movement::Void), "{kind:?}");
            }
            Seen::Doubt => {
                assert_eq!(moved, 2_117_499, "{kind:?}");
                assert!(matches!(traced, Err(Failure::Lost(_))), "{kind:?}: {traced:?}");
                town.pass(NETWORK, LIFE_SECONDS + 1);
                assert!(matches!(town.trace(&begun).await, Err(Failure::Lost(_))));
            }
        }
    }
}

#[tokio::test]
async fn what_is_left_open_can_be_asked_for_again_and_is_paid_once() {
    let town = Town::seeing().await;
    for (kind, lost) in
        [(Kind::CutBefore, true), (Kind::RateLimited, true), (Kind::CutAfter, false)]
    {
        let before = town.paid(NETWORK);
        let (begun, _, _) = struck(&town, Rule::new(kind).once()).await;
        // As the reconciler does it: look, and ask again only if it is open.
        let open = town.trace(&begun).await == Ok(Movement::Open);
        assert_eq!(open, lost, "{kind:?}");
        if open {
            town.settle(&begun).await.unwrap();
        }
        assert!(matches!(town.trace(&begun).await, Ok(Movement::Moved(_))), "{kind:?}");
        assert_eq!(town.paid(NETWORK) - before, 2_117_500, "{kind:?}");
    }
}

#[tokio::test]
async fn a_pending_settlement_is_asked_for_twice_and_not_a_third_time() {
    let town = Town::seeing().await;
    for (kind, times, heard) in [
        (Kind::Pending, 1, Heard::Moved),
        (Kind::PendingAs500, 1, Heard::Moved),
        (Kind::Pending, 2, Heard::Lost),
        (Kind::PendingAs500, 9, Heard::Lost),
    ] {
        let asked = town.settlements();
        let (begun, said, moved) = struck(&town, Rule::new(kind).times(times)).await;
        assert_eq!((said, moved), (Ok(heard), 2_117_500), "{kind:?} {times}");
        assert_eq!(town.settlements() - asked, 2, "{kind:?} {times}");
        assert!(matches!(town.trace(&begun).await, Ok(Movement::Moved(_))));
    }
}

#[tokio::test]
async fn after_a_pending_settlement_no_answer_is_a_refusal() {
    let town = Town::seeing().await;
    let begun = town.ready(NETWORK).await;
    town.emulated.add_fault(Rule::new(Kind::Pending).on(Operation::Settle).once());
    let no = Rule::new(Kind::Refused).reason("permit2_token_mismatch");
    town.emulated.add_fault(no.on(Operation::Settle).once());
    assert!(matches!(town.settle(&begun).await, Err(Unsettled::Lost(_))));
    assert!(matches!(town.trace(&begun).await, Ok(Movement::Moved(_))));
}

#[tokio::test]
async fn a_reason_that_an_earlier_settlement_can_cause_is_no_refusal_and_one_that_none_can_is() {
    let town = Town::seeing().await;
    for (reason, certain) in [
        ("permit2_simulation_failed", false),
        ("permit2_insufficient_balance", false),
        ("permit2_allowance_required", false),
        ("invalid_exact_evm_transaction_failed: timeout", false),
        ("permit2_token_mismatch", true),
        ("unsupported_payload_type", true),
    ] {
        let rule = Rule::new(Kind::Refused).reason(reason).once();
        let (begun, heard, moved) = struck(&town, rule).await;
        assert_eq!((heard.is_err(), moved), (certain, 0), "{reason}");
        assert_eq!(town.trace(&begun).await, Ok(Movement::Open), "{reason}");
    }
}

#[tokio::test]
async fn nobody_there_is_a_refusal_and_nobody_serves() {
    let town = Town::seeing().await;
    let begun = town.ready(NETWORK).await;
    let (remote, emulated) = (town.remote, town.emulated);
    emulated.close().await.unwrap();
    let said = remote.settle(begun.due()).await;
    assert!(matches!(said, Err(Unsettled::Refused(_))), "{said:?}");
    assert_eq!(remote.trace(begun.due(), None).await, Ok(Movement::Open));
    remote.refresh().await;
    assert!(remote.service(NETWORK).is_some(), "the last good list holds");
}
