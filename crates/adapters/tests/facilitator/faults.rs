//! Every fault of a settlement: its classification, and how the chain resolves it.

use order::model::chain::Network;
use order::model::payment::Finality;
use order::ports::Failure;
use order::tender::Unsettled;
use pay::transfer::TransferStatus;
use pay::x402::settler::Permit2Settler;
use sandbox::facilitator::fault::{FacilitatorFault, FacilitatorFaultRule, FacilitatorOperation};

use crate::fixture::{Begun, FacilitatorFixture, LIFE_SECONDS};

const NETWORK: Network = Network::Base;

/// What the walk must hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heard {
    ConfirmedTransfer,
    Lost,
}

/// What a look at the chain must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    ConfirmedTransfer,
    /// Nothing yet; never, once the authorization has run out.
    Nothing,
    /// More than we asked for happened, and a person decides.
    Doubt,
}

fn expected(kind: FacilitatorFault) -> (Heard, Seen) {
    match kind {
        FacilitatorFault::CutBefore
        | FacilitatorFault::HangBefore
        | FacilitatorFault::RateLimited
        | FacilitatorFault::StatusBefore
        | FacilitatorFault::Refused => (Heard::Lost, Seen::Nothing),
        // Our own node does not show what the facilitator reports.
        FacilitatorFault::Invented => (Heard::Lost, Seen::Nothing),
        FacilitatorFault::CutAfter
        | FacilitatorFault::HangAfter
        | FacilitatorFault::StatusAfter
        | FacilitatorFault::Garbage
        | FacilitatorFault::Empty
        | FacilitatorFault::FailsAfter
        | FacilitatorFault::WrongAmount
        | FacilitatorFault::NoAmount
        | FacilitatorFault::WrongNetwork
        | FacilitatorFault::WrongPayer
        | FacilitatorFault::NoTransaction => (Heard::Lost, Seen::ConfirmedTransfer),
        FacilitatorFault::Slow | FacilitatorFault::Pending | FacilitatorFault::PendingAs500 => {
            (Heard::ConfirmedTransfer, Seen::ConfirmedTransfer)
        }
        FacilitatorFault::MovesLess => (Heard::Lost, Seen::Doubt),
    }
}

async fn struck(
    fixture: &FacilitatorFixture,
    rule: FacilitatorFaultRule,
) -> (Begun, Result<Heard, Unsettled>, u128) {
    let (before, asked) = (fixture.paid(NETWORK), fixture.settlements());
    let begun = fixture.ready(NETWORK).await;
    fixture.emulated.add_fault(rule.on(FacilitatorOperation::Settle));
    let heard = match fixture.settle(&begun).await {
        Ok(_) => Ok(Heard::ConfirmedTransfer),
        Err(Unsettled::Lost(_)) => Ok(Heard::Lost),
        Err(refused @ (Unsettled::Refused(_) | Unsettled::Withdrawn(_))) => Err(refused),
    };
    // We may have given up before the facilitator was done.
    while fixture.settlements() == asked {
        tokio::task::yield_now().await;
    }
    fixture.emulated.clear_faults();
    (begun, heard, fixture.paid(NETWORK) - before)
}

#[tokio::test]
async fn every_fault_is_sorted_and_the_chain_ends_every_doubt() {
    for kind in FacilitatorFault::ALL.iter().copied() {
        let silent = matches!(kind, FacilitatorFault::HangBefore | FacilitatorFault::HangAfter);
        let fixture = if silent {
            FacilitatorFixture::hurried().await
        } else {
            FacilitatorFixture::seeing().await
        };
        let (begun, heard, moved) =
            struck(&fixture, FacilitatorFaultRule::new(kind).milliseconds(50).once()).await;
        let (to_hear, to_see) = expected(kind);
        assert_eq!(heard, Ok(to_hear), "{kind:?}");
        let traced = fixture.trace(&begun).await;
        match to_see {
            Seen::ConfirmedTransfer => {
                assert_eq!(moved, 2_117_500, "{kind:?}");
                let Ok(TransferStatus::Moved(found)) = traced else {
                    panic!("{kind:?}: {traced:?}")
                };
                assert_eq!(found.finality, Finality::Final);
            }
            Seen::Nothing => {
                assert_eq!(moved, 0, "{kind:?}");
                assert_eq!(traced, Ok(TransferStatus::Open), "{kind:?}");
                fixture.pass(NETWORK, LIFE_SECONDS);
                assert_eq!(
                    fixture.trace(&begun).await,
                    Ok(TransferStatus::Open),
                    "its last second"
                );
                fixture.pass(NETWORK, 1);
                assert_eq!(fixture.trace(&begun).await, Ok(TransferStatus::Void), "{kind:?}");
            }
            Seen::Doubt => {
                assert_eq!(moved, 2_117_499, "{kind:?}");
                assert!(matches!(traced, Err(Failure::Lost(_))), "{kind:?}: {traced:?}");
                fixture.pass(NETWORK, LIFE_SECONDS + 1);
                assert!(matches!(fixture.trace(&begun).await, Err(Failure::Lost(_))));
            }
        }
    }
}

#[tokio::test]
async fn what_is_left_open_can_be_asked_for_again_and_is_paid_once() {
    let fixture = FacilitatorFixture::seeing().await;
    for (kind, lost) in [
        (FacilitatorFault::CutBefore, true),
        (FacilitatorFault::RateLimited, true),
        (FacilitatorFault::CutAfter, false),
    ] {
        let before = fixture.paid(NETWORK);
        let (begun, _, _) = struck(&fixture, FacilitatorFaultRule::new(kind).once()).await;
        // As the reconciler does it: look, and ask again only if it is open.
        let open = fixture.trace(&begun).await == Ok(TransferStatus::Open);
        assert_eq!(open, lost, "{kind:?}");
        if open {
            fixture.settle(&begun).await.unwrap();
        }
        assert!(matches!(fixture.trace(&begun).await, Ok(TransferStatus::Moved(_))), "{kind:?}");
        assert_eq!(fixture.paid(NETWORK) - before, 2_117_500, "{kind:?}");
    }
}

#[tokio::test]
async fn a_pending_settlement_is_asked_for_twice_and_not_a_third_time() {
    let fixture = FacilitatorFixture::seeing().await;
    for (kind, times, heard) in [
        (FacilitatorFault::Pending, 1, Heard::ConfirmedTransfer),
        (FacilitatorFault::PendingAs500, 1, Heard::ConfirmedTransfer),
        (FacilitatorFault::Pending, 2, Heard::Lost),
        (FacilitatorFault::PendingAs500, 9, Heard::Lost),
    ] {
        let asked = fixture.settlements();
        let (begun, said, moved) =
            struck(&fixture, FacilitatorFaultRule::new(kind).times(times)).await;
        assert_eq!((said, moved), (Ok(heard), 2_117_500), "{kind:?} {times}");
        assert_eq!(fixture.settlements() - asked, 2, "{kind:?} {times}");
        assert!(matches!(fixture.trace(&begun).await, Ok(TransferStatus::Moved(_))));
    }
}

#[tokio::test]
async fn after_a_pending_settlement_no_answer_is_a_refusal() {
    let fixture = FacilitatorFixture::seeing().await;
    let begun = fixture.ready(NETWORK).await;
    fixture.emulated.add_fault(
        FacilitatorFaultRule::new(FacilitatorFault::Pending)
            .on(FacilitatorOperation::Settle)
            .once(),
    );
    let no = FacilitatorFaultRule::new(FacilitatorFault::Refused).reason("permit2_token_mismatch");
    fixture.emulated.add_fault(no.on(FacilitatorOperation::Settle).once());
    assert!(matches!(fixture.settle(&begun).await, Err(Unsettled::Lost(_))));
    assert!(matches!(fixture.trace(&begun).await, Ok(TransferStatus::Moved(_))));
}

#[tokio::test]
async fn a_reason_that_an_earlier_settlement_can_cause_is_no_refusal_and_one_that_none_can_is() {
    let fixture = FacilitatorFixture::seeing().await;
    for (reason, certain) in [
        ("permit2_simulation_failed", false),
        ("permit2_insufficient_balance", false),
        ("permit2_allowance_required", false),
        ("invalid_exact_evm_transaction_failed: timeout", false),
        ("permit2_token_mismatch", true),
        ("unsupported_payload_type", true),
    ] {
        let rule = FacilitatorFaultRule::new(FacilitatorFault::Refused).reason(reason).once();
        let (begun, heard, moved) = struck(&fixture, rule).await;
        assert_eq!((heard.is_err(), moved), (certain, 0), "{reason}");
        assert_eq!(fixture.trace(&begun).await, Ok(TransferStatus::Open), "{reason}");
    }
}

#[tokio::test]
async fn a_payment_is_still_good_if_the_facilitator_was_not_reached() {
    let fixture = FacilitatorFixture::seeing().await;
    let begun = fixture.ready(NETWORK).await;
    let (remote, emulated) = (fixture.remote, fixture.emulated);
    emulated.close().await.unwrap();
    let said = remote.settle(begun.due()).await;
    assert!(matches!(said, Err(Unsettled::Withdrawn(_))), "{said:?}");
    assert_eq!(remote.trace(begun.due(), None).await, Ok(TransferStatus::Open));
    remote.refresh().await;
    assert!(remote.support(NETWORK).is_some(), "the last good list holds");
}
