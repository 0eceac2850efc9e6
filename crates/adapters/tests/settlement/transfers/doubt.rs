//! What proves that an MPP transfer was made, by any sender, or is void.

use alloy_primitives::Address;
use alloy_sol_types::{SolCall, sol};
use sandbox::chain::{NodeFault, NodeFaultRule, ReorgedTransactions, TagDepths};

use super::*;
use crate::fixture::AUTHORIZATION_SECONDS;

/// Blocks stay once four others stand on them.
async fn fixture_with_depths() -> (Fixture, Settler) {
    let fixture = Fixture::open().await;
    fixture.chain().set_depths(TagDepths { safe: 2, finalized: 4 });
    let settler = fixture.settler();
    (fixture, settler)
}

#[tokio::test]
async fn a_transfer_is_provisional_until_its_block_is_final() {
    let (fixture, settler) = fixture_with_depths().await;
    let payment = Payment::prepare(&settler, fixture.transfer()).await.unwrap();
    assert_eq!(payment.settle(&settler).await.unwrap().finality, Finality::Provisional);
    fixture.chain().mine(3);
    assert_eq!(finality(&payment.trace(&settler).await), Some(Finality::Provisional));
    fixture.chain().mine(1);
    assert_eq!(finality(&payment.trace(&settler).await), Some(Finality::Final));
}

#[tokio::test]
async fn a_transfer_made_by_another_sender_is_paid_under_its_hash() {
    for depths in [TagDepths::default(), TagDepths { safe: 2, finalized: 4 }] {
        let fixture = Fixture::open().await;
        fixture.chain().set_depths(depths);
        let settler = fixture.settler();
        // After we prepared: ours fails in its block, and the money is there all the same.
        let payment = Payment::prepare(&settler, fixture.transfer()).await.unwrap();
        let hash = send(&fixture, "stranger", carrying(&payment.authorization));
        let moved = payment.settle(&settler).await.unwrap();
        assert_eq!(moved.transaction, hash);
        assert_eq!(payment.trace(&fixture.settler()).await, Ok(TransferStatus::Moved(moved)));
        // Before we ever saw it: nothing is left to sign.
        let early = fixture.transfer();
        let hash = send(&fixture, "stranger", carrying(&early));
        assert_eq!(settler.verify(&early).await, Ok(AuthorizationUse::Used));
        assert_eq!(settler.prepare(&early, None).await.unwrap().usage, AuthorizationUse::Used);
        let mut payment = Payment::prepare(&settler, early).await.unwrap();
        assert_eq!(fixture.signed(payment.key()).await, 0);
        assert_eq!(payment.settle(&settler).await.unwrap().transaction, hash);
        // A node that has forgotten the states of its blocks still has the receipt.
        let forgotten = NodeFault::Error { code: -32000, message: "missing trie node".to_owned() };
        fixture
            .chain()
            .add_fault(NodeFaultRule { times: None, ..NodeFaultRule::once(forgotten, "eth_call") });
        assert!(matches!(payment.trace(&settler).await, Err(Failure::Lost(_))));
        let told = settler.trace(payment.due(), Some(&hash)).await;
        assert!(matches!(told, Ok(TransferStatus::Moved(moved)) if moved.transaction == hash));
        fixture.chain().clear_faults();
        let TransferStatus::Moved(moved) = payment.chase(&fixture, &settler).await else {
            panic!("moved")
        };
        assert_eq!((moved.transaction, fixture.paid()), (hash, price(2)));
        assert_eq!(fixture.chain().transfers_to(payee()).len(), 2);
    }
}

#[tokio::test]
async fn a_foreign_transfer_that_a_reorganisation_drops_is_made_by_us() {
    let (fixture, settler) = fixture_with_depths().await;
    let authorization = fixture.transfer();
    let hash = send(&fixture, "stranger", carrying(&authorization));
    let mut payment = Payment::prepare(&settler, authorization).await.unwrap();
    assert_eq!(payment.settle(&settler).await.unwrap().transaction, hash);
    fixture.chain().reorganise(1, ReorgedTransactions::Dropped);
    assert_eq!(fixture.paid(), 0);
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Open));
    let lost = payment.settle(&settler).await;
    assert!(matches!(lost, Err(Unsettled::Lost(_))), "{lost:?}");
    let TransferStatus::Moved(moved) = payment.chase(&fixture, &settler).await else {
        panic!("moved")
    };
    assert_ne!(moved.transaction, hash);
    assert_eq!((fixture.paid(), fixture.signed(payment.key()).await), (price(1), 1));
}

#[tokio::test]
async fn a_transfer_that_a_reorganisation_drops_is_open_and_is_sent_again() {
    let (fixture, settler) = fixture_with_depths().await;
    let payment = Payment::prepare(&settler, fixture.transfer()).await.unwrap();
    let moved = payment.settle(&settler).await.unwrap();
    fixture.chain().reorganise(1, ReorgedTransactions::MinedAgain);
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Moved(moved.clone())));
    fixture.chain().reorganise(2, ReorgedTransactions::Dropped);
    assert_eq!((payment.trace(&settler).await, fixture.paid()), (Ok(TransferStatus::Open), 0));
    assert_eq!(payment.settle(&settler).await.unwrap().transaction, moved.transaction);
    assert_eq!(fixture.paid(), price(1));
}

#[tokio::test]
async fn a_cancelled_transfer_is_void_once_the_cancellation_is_final() {
    let (fixture, settler) = fixture_with_depths().await;
    let payment = Payment::prepare(&settler, fixture.transfer()).await.unwrap();
    send(&fixture, "stranger", cancelling(&payment.authorization, &payer(&fixture)));
    assert!(words(settler.verify(&payment.authorization).await).contains("cancelled"));
    let again = settler.prepare(&payment.authorization, Some(&payment.preparation)).await;
    assert!(words(again.map(drop)).contains("cancelled"));
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Open), "it may be undone");
    let lost = payment.settle(&settler).await;
    assert!(matches!(lost, Err(Unsettled::Lost(_))), "{lost:?}");
    fixture.chain().mine(4);
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Void));
    let refused = payment.settle(&settler).await;
    assert!(matches!(refused, Err(Unsettled::Refused(_))), "{refused:?}");
    assert_eq!(fixture.paid(), 0);
}

#[tokio::test]
async fn a_nonce_spent_on_another_transfer_is_void_once_that_is_final() {
    let (fixture, settler) = fixture_with_depths().await;
    let (key, stranger) = (payer(&fixture), fixture.chains.key("stranger").address());
    let payment = Payment::prepare(&settler, fixture.transfer()).await.unwrap();
    let mut elsewhere = TransferAuthorization { to: stranger, ..payment.authorization.clone() };
    sign(&mut elsewhere, &key);
    send(&fixture, "stranger", carrying(&elsewhere));
    assert_eq!(fixture.chain().usdc_of(stranger), price(1));
    fixture.chain().mine(3);
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Open));
    assert!(words(settler.verify(&payment.authorization).await).contains("another transfer"));
    fixture.chain().mine(1);
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Void));
    assert_eq!(fixture.paid(), 0);
}

/// One transaction with two authorizations of one payer. The nonce of the first went to the
/// payer's own other account, beside a good payment for another card.
#[tokio::test]
async fn one_transfer_never_proves_two_payments() {
    sol! {
        struct Call3 { address target; bool allowFailure; bytes callData; }
        function aggregate3(Call3[] calls) external payable;
    }
    let (fixture, settler) = fixture_with_depths().await;
    let (key, own) = (payer(&fixture), fixture.chains.key("own").address());
    let cheated = Payment::prepare(&settler, fixture.transfer()).await.unwrap();
    let honest = Payment::prepare(&settler, fixture.transfer()).await.unwrap();
    let mut elsewhere = TransferAuthorization { to: own, ..cheated.authorization.clone() };
    sign(&mut elsewhere, &key);
    let calls = [&elsewhere, &honest.authorization].map(|one| Call3 {
        target: Address::from(BASE.usdc().bytes()),
        allowFailure: false,
        callData: carrying(one).into(),
    });
    let multicall = "0xcA11bde05977b3631167028862bE2a173976CA11".parse().unwrap();
    let call = aggregate3Call { calls: calls.to_vec() };
    let hash = send_to(&fixture, "stranger", multicall, call.abi_encode());
    fixture.chain().mine(4);
    assert_eq!(fixture.paid(), price(1));
    let Ok(TransferStatus::Moved(moved)) = honest.trace(&settler).await else { panic!("moved") };
    assert_eq!((moved.transaction, moved.finality), (hash, Finality::Final));
    assert_eq!(cheated.trace(&settler).await, Ok(TransferStatus::Void));
}

#[tokio::test]
async fn an_unsent_transfer_is_void_once_a_final_block_is_past_its_end() {
    let (fixture, settler) = fixture_with_depths().await;
    let payment = Payment::prepare(&settler, fixture.transfer()).await.unwrap();
    // Our own clock has no say.
    fixture.clock.forward(AUTHORIZATION_SECONDS);
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Open));
    fixture.chain().mine(1);
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Open), "it may be replaced");
    fixture.chain().mine(3);
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Open));
    fixture.chain().mine(1);
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Void));
    // And so it is: sent after all, it does nothing.
    send(&fixture, "stranger", carrying(&payment.authorization));
    assert_eq!(fixture.paid(), 0);
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Void));
    let refused = payment.settle(&settler).await;
    assert!(matches!(refused, Err(Unsettled::Refused(_))), "{refused:?}");
}

#[tokio::test]
async fn a_transfer_in_the_last_second_before_its_end_counts() {
    let (fixture, settler) = fixture_with_depths().await;
    let payment = Payment::prepare(&settler, fixture.transfer()).await.unwrap();
    fixture.clock.forward(AUTHORIZATION_SECONDS - 1);
    fixture.chain().mine(5);
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Open));
    send(&fixture, "stranger", carrying(&payment.authorization));
    let Ok(TransferStatus::Moved(moved)) = payment.trace(&settler).await else { panic!("moved") };
    assert_eq!(moved.at.0, payment.authorization.valid_before - 1);
}

#[tokio::test]
async fn a_node_that_is_behind_or_silent_never_makes_a_transfer_void() {
    let (fixture, settler) = fixture_with_depths().await;
    let chain = fixture.chain();
    let ours = Payment::prepare(&settler, fixture.transfer()).await.unwrap();
    let theirs = Payment::prepare(&settler, fixture.transfer()).await.unwrap();
    ours.settle(&settler).await.unwrap();
    send(&fixture, "stranger", carrying(&theirs.authorization));
    fixture.clock.forward(AUTHORIZATION_SECONDS + 1);
    chain.mine(8);
    let stale = || NodeFault::Stale { blocks: 10 };
    let rule = |fault, method, skip, times| NodeFaultRule {
        skip,
        times,
        ..NodeFaultRule::once(fault, method)
    };
    let methods = ["eth_getBlockByNumber", "eth_call", "eth_getLogs", "eth_getTransactionReceipt"];
    for payment in [&ours, &theirs] {
        for method in methods {
            for (skip, times) in (0..6).flat_map(|skip| [(skip, Some(1)), (skip, None)]) {
                chain.add_fault(rule(stale(), method, skip, times));
                let seen = payment.trace(&settler).await;
                assert_ne!(seen, Ok(TransferStatus::Void), "{method} {skip} {times:?}");
                chain.clear_faults();
            }
        }
        assert_eq!(finality(&payment.trace(&settler).await), Some(Finality::Final));
    }
    chain.add_fault(rule(NodeFault::Silent, "eth_getLogs", 0, None));
    let seen = theirs.trace(&settler).await;
    assert!(matches!(seen, Err(Failure::Lost(_))), "{seen:?}");
    // Nor is a payer told to sign anew: one node knows of a use that another does not show.
    let verdict = settler.verify(&theirs.authorization).await;
    assert_eq!(verdict, Err(Rejection::Unavailable));
    chain.clear_faults();
    for (method, skip) in [("eth_call", 1), ("eth_getBlockByNumber", 0)] {
        chain.add_fault(rule(stale(), method, skip, None));
        let verdict = settler.verify(&theirs.authorization).await;
        assert_eq!(verdict, Err(Rejection::Unavailable), "{method}");
        chain.clear_faults();
    }
    assert_eq!(settler.verify(&theirs.authorization).await, Ok(AuthorizationUse::Used));
}

#[tokio::test]
async fn a_failed_transaction_leaves_an_authorization_that_another_sender_may_use() {
    let fixture = Fixture::open().await;
    let (settler, chain) = (fixture.settler(), fixture.chain());
    let revert = || NodeFaultRule::once(NodeFault::Revert, "eth_sendRawTransaction");
    let payment = Payment::prepare(&settler, fixture.transfer()).await.unwrap();
    chain.add_fault(revert());
    let failed = payment.settle(&settler).await;
    assert!(matches!(failed, Err(Unsettled::Lost(_))), "{failed:?}");
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Open));
    let hash = send(&fixture, "stranger", carrying(&payment.authorization));
    let Ok(TransferStatus::Moved(moved)) = payment.trace(&settler).await else {
        panic!("it moved")
    };
    assert_eq!(moved.transaction, hash);
    let payment = Payment::prepare(&settler, fixture.transfer()).await.unwrap();
    let hash = send(&fixture, "stranger", carrying(&payment.authorization));
    chain.add_fault(revert());
    assert_eq!(payment.settle(&settler).await.unwrap().transaction, hash);
    // While that is unknown, it is neither.
    let payment = Payment::prepare(&settler, fixture.transfer()).await.unwrap();
    send(&fixture, "stranger", carrying(&payment.authorization));
    chain.add_fault(NodeFaultRule {
        times: None,
        ..NodeFaultRule::once(NodeFault::Unavailable, "eth_call")
    });
    let lost = payment.settle(&settler).await;
    assert!(matches!(lost, Err(Unsettled::Lost(_))), "{lost:?}");
    assert_eq!(fixture.paid(), price(3));
}
