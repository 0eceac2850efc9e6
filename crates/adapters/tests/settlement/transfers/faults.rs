//! Every fault of a node at every call of an MPP transfer, with and without another sender.

use std::sync::Arc;

use sandbox::chain::{NodeFault, NodeFaultRule, TagDepths};
use tokio::task::{JoinSet, LocalSet};

use super::*;
use crate::faults::{Told, calls, quick_faults};
use crate::fixture::until;

/// Who else has the authorization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rival {
    None,
    /// Sends it between our simulation and our transaction.
    Quick,
}

/// Pays with whatever faults are set, and finds out the rest without them.
async fn try_to_pay(fixture: &Fixture, settler: &Settler, rival: Rival) -> (Told, TransferStatus) {
    let one = fixture.transfer();
    let prepared = match settler.verify(&one).await {
        Ok(_) => Payment::prepare(settler, one).await,
        Err(why) => Err(why),
    };
    let Ok(mut payment) = prepared else { return (Told::NotTaken, TransferStatus::Void) };
    match rival {
        Rival::None => {}
        Rival::Quick => drop(send(fixture, "rival", carrying(&payment.authorization))),
    }
    let told = match payment.settle(settler).await {
        Ok(moved) => return (Told::Paid, TransferStatus::Moved(moved)),
        Err(unsettled) => Told::of(&unsettled),
    };
    fixture.chain().clear_faults();
    if told == Told::Lost {
        return (told, payment.chase(fixture, settler).await);
    }
    fixture.chain().mine(2);
    (told, TransferStatus::Void)
}

/// One fault at every call of a payment, on a chain of its own.
async fn walk_one(depths: TagDepths, rival: Rival, fault: NodeFault) -> Vec<Told> {
    let fixture = Fixture::open().await;
    let chain = fixture.chain();
    chain.set_depths(depths);
    let settler = fixture.settler();
    try_to_pay(&fixture, &settler, rival).await;
    fixture.end(settler).await;
    let calls = calls(&fixture);
    assert!(calls.len() >= 9, "{calls:?}");
    let mut told = Vec::new();
    for (method, skip) in
        calls.iter().flat_map(|(method, count)| (0..*count).map(move |skip| (method, skip)))
    {
        let before = fixture.paid();
        chain.add_fault(NodeFaultRule { skip, ..NodeFaultRule::once(fault.clone(), method) });
        // Another process, which must recognise its node too.
        let settler = fixture.settler();
        let (said, became) = try_to_pay(&fixture, &settler, rival).await;
        chain.clear_faults();
        let moved = fixture.paid() - before;
        let charge = said.charge(&became, price(1));
        assert_eq!(Some(moved), charge, "{fault:?} at {method} {skip}: {said:?}, {became:?}");
        told.push(said);
        fixture.end(settler).await;
    }
    told
}

async fn walk(depths: TagDepths, rival: Rival, faults: &[NodeFault]) -> Vec<Told> {
    LocalSet::new()
        .run_until(async {
            let mut walks = JoinSet::new();
            for fault in faults {
                walks.spawn_local(walk_one(depths, rival, fault.clone()));
            }
            walks.join_all().await.concat()
        })
        .await
}

#[tokio::test]
async fn no_fault_at_any_call_moves_money_twice_or_denies_that_it_moved() {
    let mut told = walk(TagDepths::default(), Rival::None, &quick_faults()).await;
    let late = TagDepths { safe: 2, finalized: 4 };
    told.extend(walk(late, Rival::None, &quick_faults()).await);
    for outcome in [Told::NotTaken, Told::Paid, Told::Lost] {
        assert!(told.contains(&outcome), "{outcome:?} never happened, so nothing was shown");
    }
    // Any sender may use an authorization that was once sent.
    assert!(!told.contains(&Told::Refused));
}

#[tokio::test]
async fn no_fault_hides_the_transfer_of_a_rival_who_sends_the_same_authorization() {
    // One of each kind: before, after and instead of the answer.
    let faults = [
        NodeFault::Reset,
        NodeFault::LoseAnswer,
        NodeFault::Revert,
        NodeFault::Stale { blocks: 1 },
    ];
    for depths in [TagDepths::default(), TagDepths { safe: 2, finalized: 4 }] {
        let told = walk(depths, Rival::Quick, &faults).await;
        assert!(told.contains(&Told::Paid) && told.contains(&Told::Lost));
        assert!(!told.contains(&Told::Refused), "the money had moved");
    }
}

#[tokio::test]
async fn a_node_is_asked_about_a_limited_number_of_payments_at_once() {
    const PAYMENTS: usize = 100;
    const AT_ONCE: usize = 64;
    let fixture = Fixture::with_short_node_deadline().await;
    let (settler, chain) = (Arc::new(fixture.settler()), fixture.chain());
    settler.verify(&fixture.transfer()).await.unwrap();
    chain.clear_journal();
    chain.add_fault(NodeFaultRule {
        times: None,
        ..NodeFaultRule::once(NodeFault::Hang, "eth_call")
    });
    let mut payments = JoinSet::new();
    for _ in 0..PAYMENTS {
        let (settler, authorization) = (settler.clone(), fixture.transfer());
        payments.spawn(async move { settler.verify(&authorization).await });
    }
    until("the node is asked", async || {
        chain.journal().iter().filter(|call| call.method == "eth_call").count() == AT_ONCE
    })
    .await;
    // The others are asked about when those have ended, and the node answers again.
    chain.clear_faults();
    let answers = payments.join_all().await;
    let count = |wanted: &Result<AuthorizationUse, Rejection>| {
        answers.iter().filter(|answer| *answer == wanted).count()
    };
    assert_eq!(count(&Err(Rejection::Unavailable)), AT_ONCE);
    assert_eq!(count(&Ok(AuthorizationUse::Unused)), PAYMENTS - AT_ONCE);
}
