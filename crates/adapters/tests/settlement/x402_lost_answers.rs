//! What proves that an x402 payment moved or is void, and what proves nothing.

use adapters::settlement::{Settler, SettlerLimits};
use order::model::payment::{Finality, Preparation};
use order::ports::Failure;
use order::tender::{Rejection, Unsettled};
use pay::transfer::{ConfirmedTransfer, TransferStatus};
use pay::x402::settler::Permit2Settler;
use sandbox::chain::{MiningMode, NodeFault, NodeFaultRule, ReorgedTransactions, TagDepths};

use crate::fixture::{AUTHORIZATION_SECONDS, BASE, Fixture, Payment, atomic, pay};
use crate::signing::{CHARGE, Terms, cancellation, settlement};

/// Blocks stay once four others stand on them.
async fn fixture_with_depths() -> (Fixture, Settler) {
    let fixture = Fixture::open().await;
    fixture.chain().set_depths(TagDepths { safe: 2, finalized: 4 });
    let settler = fixture.settler();
    (fixture, settler)
}

fn finality(movement: &Result<TransferStatus, Failure>) -> Option<Finality> {
    match movement {
        Ok(TransferStatus::Moved(ConfirmedTransfer { finality, .. })) => Some(*finality),
        Ok(TransferStatus::Open | TransferStatus::Void) | Err(_) => None,
    }
}

#[tokio::test]
async fn a_payment_is_provisional_until_its_block_is_final() {
    let (fixture, settler) = fixture_with_depths().await;
    let payment = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    let moved = payment.settle(&settler).await.unwrap();
    assert_eq!(moved.finality, Finality::Provisional);
    fixture.chain().mine(3);
    assert_eq!(finality(&payment.trace(&settler).await), Some(Finality::Provisional));
    fixture.chain().mine(1);
    assert_eq!(finality(&payment.trace(&settler).await), Some(Finality::Final));
}

#[tokio::test]
async fn a_node_without_the_finalized_tag_is_asked_for_safe_and_then_for_old_blocks() {
    let (fixture, _) = fixture_with_depths().await;
    let chain = fixture.chain();
    let new_here =
        || fixture.settler_within(SettlerLimits { confirmations: 1, ..SettlerLimits::of(BASE) });
    let settler = new_here();
    let payment = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    payment.settle(&settler).await.unwrap();
    let unknown = |times| NodeFaultRule {
        times: Some(times),
        ..NodeFaultRule::once(
            NodeFault::Error { code: -32602, message: "invalid block tag".to_owned() },
            "eth_getBlockByNumber",
        )
    };
    chain.mine(1);
    chain.add_fault(unknown(1));
    assert_eq!(finality(&payment.trace(&new_here()).await), Some(Finality::Provisional));
    chain.add_fault(unknown(2));
    assert_eq!(finality(&payment.trace(&new_here()).await), Some(Finality::Final));
    chain.mine(1);
    chain.add_fault(unknown(1));
    assert_eq!(finality(&payment.trace(&new_here()).await), Some(Finality::Final));
    // One that told the final block before knows better, whatever it says now.
    chain.add_fault(unknown(1));
    assert!(payment.trace(&settler).await.is_err());
    // A node that is only busy is not one that knows no better.
    let busy = NodeFault::Error { code: -32005, message: "limit exceeded".to_owned() };
    chain.add_fault(NodeFaultRule::once(busy, "eth_getBlockByNumber"));
    assert!(payment.trace(&settler).await.is_err());
}

#[tokio::test]
async fn a_transaction_that_a_reorganisation_drops_is_open_and_is_sent_again() {
    let (fixture, settler) = fixture_with_depths().await;
    let payment = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    let moved = payment.settle(&settler).await.unwrap();
    fixture.chain().reorganise(1, ReorgedTransactions::Dropped);
    assert_eq!(fixture.paid(), 0);
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Open));
    // A payment that comes in between does not take its nonce.
    pay(&settler, fixture.authorization_of("other")).await.unwrap();
    let again = payment.settle(&settler).await.unwrap();
    assert_eq!((again.transaction, fixture.paid()), (moved.transaction, atomic(2)));
    assert_eq!(fixture.signed(payment.key()).await, 1);
    assert_eq!(fixture.chain().nonce_of(fixture.account()), 2);
}

#[tokio::test]
async fn a_reorganisation_that_keeps_the_transaction_changes_its_block_and_nothing_else() {
    let (fixture, settler) = fixture_with_depths().await;
    let payment = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    let moved = payment.settle(&settler).await.unwrap();
    fixture.chain().reorganise(1, ReorgedTransactions::MinedAgain);
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Moved(moved)));
    fixture.chain().reorganise(2, ReorgedTransactions::Waiting);
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Open));
    fixture.chain().mine(1);
    assert_eq!(finality(&payment.trace(&settler).await), Some(Finality::Provisional));
    assert_eq!(fixture.paid(), atomic(1));
}

#[tokio::test]
async fn an_unsent_authorization_is_void_once_a_final_block_is_past_its_deadline() {
    let (fixture, settler) = fixture_with_depths().await;
    let payment = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    // Our own clock has no say.
    fixture.clock.forward(10 * AUTHORIZATION_SECONDS);
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Open));
    fixture.chain().mine(1);
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Open), "it may be replaced");
    fixture.chain().mine(3);
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Open));
    fixture.chain().mine(1);
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Void));
    // Sent after all, it moves nothing.
    let key = fixture.chains.faucet().settler();
    fixture.chain().send(&settlement(&payment.authorization, &key, 0)).unwrap();
    assert_eq!(fixture.paid(), 0);
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Void));
}

#[tokio::test]
async fn a_payment_in_the_last_second_of_a_authorization_counts() {
    let (fixture, settler) = fixture_with_depths().await;
    let payment = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    fixture.clock.forward(AUTHORIZATION_SECONDS);
    fixture.chain().mine(5);
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Open));
    let key = fixture.chains.faucet().settler();
    fixture.chain().send(&settlement(&payment.authorization, &key, 0)).unwrap();
    let found = payment.trace(&settler).await;
    let Ok(TransferStatus::Moved(moved)) = found else { panic!("{found:?}") };
    assert_eq!(moved.at.0, payment.authorization.deadline);
}

#[tokio::test]
async fn a_failed_transaction_is_refused_only_in_a_final_block() {
    let (fixture, settler) = fixture_with_depths().await;
    let chain = fixture.chain();
    let revert = || NodeFaultRule::once(NodeFault::Revert, "eth_sendRawTransaction");
    let mut payment = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    chain.add_fault(revert());
    let lost = payment.settle(&settler).await;
    assert!(matches!(lost, Err(Unsettled::Lost(_))), "{lost:?}");
    // The authorization is unspent, so it is tried again under another nonce.
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Open));
    assert!(matches!(payment.chase(&fixture, &settler).await, TransferStatus::Moved(_)));
    assert_eq!((fixture.signed(payment.key()).await, fixture.paid()), (2, atomic(1)));

    chain.set_depths(TagDepths::default());
    let payment = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    chain.add_fault(revert());
    let refused = payment.settle(&settler).await;
    assert!(matches!(refused, Err(Unsettled::Refused(_))), "{refused:?}");
    assert_eq!(fixture.paid(), atomic(1));
}

#[tokio::test]
async fn a_cancelled_authorization_is_void_once_the_cancellation_is_final() {
    let (fixture, settler) = fixture_with_depths().await;
    let chain = fixture.chain();
    let key = fixture.chains.faucet().payer();
    let payment = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    let other = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    chain.send(&cancellation(&payment.authorization, &key, 0)).unwrap();
    let again = settler.prepare(&payment.authorization, CHARGE, Some(&payment.preparation)).await;
    let used = Rejection::Invalid("permit2_invalid_nonce".to_owned());
    assert_eq!(again.map(drop), Err(used));
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Open), "it may be undone");
    let lost = payment.settle(&settler).await;
    assert!(matches!(lost, Err(Unsettled::Lost(_))), "{lost:?}");
    chain.mine(4);
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Void));
    assert_eq!(fixture.paid(), 0);
    // The nonce beside it in the same word is not meant.
    other.settle(&settler).await.unwrap();
    assert_eq!(fixture.paid(), atomic(1));
}

/// A payment whose nonce the payer has also signed for a stranger, and that transaction.
async fn spent_elsewhere(fixture: &Fixture, settler: &Settler) -> (Payment, Vec<u8>) {
    let key = fixture.chains.faucet().payer();
    let terms = fixture.terms(key.address());
    let payment = Payment::prepare(settler, terms.signed_by(&key)).await.unwrap();
    let stranger = fixture.chains.key("stranger").address();
    let elsewhere = Terms { pay_to: stranger, ..terms }.signed_by(&key);
    (payment, settlement(&elsewhere, &fixture.chains.faucet().settler(), 0))
}

#[tokio::test]
async fn a_nonce_spent_on_another_transfer_is_void_once_that_is_final() {
    let (fixture, settler) = fixture_with_depths().await;
    let (payment, elsewhere) = spent_elsewhere(&fixture, &settler).await;
    fixture.chain().send(&elsewhere).unwrap();
    assert_eq!(fixture.chain().usdc_of(fixture.chains.key("stranger").address()), atomic(1));
    fixture.chain().mine(3);
    assert_eq!(
        payment.trace(&settler).await,
        Ok(TransferStatus::Open),
        "a used nonce proves nothing"
    );
    fixture.chain().mine(1);
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Void));
    assert_eq!(fixture.paid(), 0);
}

#[tokio::test]
async fn a_reorganisation_that_undoes_another_use_leaves_the_authorization_open_and_it_pays() {
    let (fixture, settler) = fixture_with_depths().await;
    let chain = fixture.chain();
    let (payment, elsewhere) = spent_elsewhere(&fixture, &settler).await;
    chain.send(&elsewhere).unwrap();
    chain.mine(2);
    chain.reorganise(3, ReorgedTransactions::MinedAgain);
    assert_eq!(
        payment.trace(&settler).await,
        Ok(TransferStatus::Open),
        "in another block, no older"
    );
    chain.reorganise(4, ReorgedTransactions::Dropped);
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Open));
    payment.settle(&settler).await.unwrap();
    chain.mine(4);
    assert_eq!(finality(&payment.trace(&settler).await), Some(Finality::Final));
    assert_eq!(fixture.paid(), atomic(1));
}

#[tokio::test]
async fn a_transaction_that_is_in_no_outbox_is_found_by_its_effect() {
    let (fixture, settler) = fixture_with_depths().await;
    let payment = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    let forgotten = settlement(&payment.authorization, &fixture.chains.faucet().settler(), 0);
    fixture.chain().send(&forgotten).unwrap();
    fixture.chain().mine(5);
    let found = payment.trace(&settler).await;
    let Ok(TransferStatus::Moved(moved)) = found else { panic!("{found:?}") };
    assert_eq!(moved.transaction, alloy_primitives::keccak256(forgotten).to_string());
    assert_eq!(moved.finality, Finality::Final);
}

/// Money from the same payer to the same seller, but for another authorization.
#[tokio::test]
async fn a_payment_for_another_authorization_is_not_taken_for_this_one() {
    let (fixture, settler) = fixture_with_depths().await;
    let key = fixture.chains.faucet().payer();
    let other = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    let payment = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    other.settle(&settler).await.unwrap();
    fixture.chain().send(&cancellation(&payment.authorization, &key, 0)).unwrap();
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Open));
    fixture.chain().mine(4);
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Void));
    assert_eq!(finality(&other.trace(&settler).await), Some(Finality::Final));
}

#[tokio::test]
async fn a_node_that_is_behind_never_makes_a_payment_void() {
    let (fixture, settler) = fixture_with_depths().await;
    let chain = fixture.chain();
    let payment = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    payment.settle(&settler).await.unwrap();
    fixture.clock.forward(AUTHORIZATION_SECONDS + 1);
    chain.mine(8);
    let stale = || NodeFault::Stale { blocks: 9 };
    let blind = || NodeFaultRule {
        times: None,
        ..NodeFaultRule::once(stale(), "eth_getTransactionReceipt")
    };
    let mut doubts = 0;
    for method in ["eth_getBlockByNumber", "eth_call", "eth_getLogs", "eth_getTransactionByHash"] {
        for (skip, times) in (0..8).flat_map(|skip| [(skip, Some(1)), (skip, None)]) {
            // The receipts are asked of one that is behind, and so is more.
            chain.add_fault(blind());
            chain.add_fault(NodeFaultRule { skip, times, ..NodeFaultRule::once(stale(), method) });
            let seen = payment.trace(&settler).await;
            let open = matches!(seen, Ok(TransferStatus::Open) | Err(Failure::Lost(_)));
            assert!(open, "{method} {skip} {times:?}: {seen:?}");
            doubts += u32::from(seen.is_err());
            chain.clear_faults();
        }
    }
    assert!(doubts > 50, "{doubts}");
    chain.add_fault(NodeFaultRule::always(stale()));
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Open));
    chain.clear_faults();
    assert_eq!(finality(&payment.trace(&settler).await), Some(Finality::Final));
}

/// It has the block, and keeps no events; or it lost the receipt, and has the events.
#[tokio::test]
async fn missing_events_and_receipts_prove_nothing() {
    let (fixture, settler) = fixture_with_depths().await;
    let (chain, key) = (fixture.chain(), fixture.chains.faucet().payer());
    let paid = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    let burned = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    paid.settle(&settler).await.unwrap();
    chain.send(&cancellation(&burned.authorization, &key, 0)).unwrap();
    chain.mine(5);
    let always =
        |fault, method| NodeFaultRule { times: None, ..NodeFaultRule::once(fault, method) };
    let silent = || always(NodeFault::Silent, "eth_getLogs");
    let forgetful = || always(NodeFault::Stale { blocks: 99 }, "eth_getTransactionReceipt");
    for rules in [vec![silent(), forgetful()], vec![forgetful()]] {
        rules.into_iter().for_each(|rule| chain.add_fault(rule));
        let seen = paid.trace(&settler).await;
        assert!(matches!(seen, Ok(TransferStatus::Open) | Err(Failure::Lost(_))), "{seen:?}");
        chain.clear_faults();
    }
    chain.add_fault(silent());
    assert_eq!(burned.trace(&settler).await, Ok(TransferStatus::Open));
    fixture.clock.forward(AUTHORIZATION_SECONDS + 1);
    chain.mine(5);
    for payment in [&paid, &burned] {
        chain.add_fault(forgetful());
        let seen = payment.trace(&settler).await;
        assert!(matches!(seen, Err(Failure::Lost(_))), "for a person: {seen:?}");
    }
    chain.clear_faults();
    assert_eq!(finality(&paid.trace(&settler).await), Some(Finality::Final));
    assert_eq!(burned.trace(&settler).await, Ok(TransferStatus::Void));
}

/// As most nodes do, this one remembers the last states only.
#[tokio::test]
async fn the_use_of_a_nonce_is_found_as_long_as_the_node_has_that_state() {
    let (fixture, settler) = fixture_with_depths().await;
    let (chain, key) = (fixture.chain(), fixture.chains.faucet().payer());
    let old = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    chain.send(&cancellation(&old.authorization, &key, 0)).unwrap();
    chain.mine(4_000);
    let recent = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    chain.send(&cancellation(&recent.authorization, &key, 1)).unwrap();
    // 4,096 blocks are kept: the first use is gone, the second is not.
    chain.mine(100);
    assert_eq!(recent.trace(&settler).await, Ok(TransferStatus::Void));
    let seen = old.trace(&settler).await;
    assert!(matches!(seen, Err(Failure::Lost(_))), "{seen:?}");
}

#[tokio::test]
async fn an_unreachable_node_leaves_a_sent_payment_lost_and_an_unsent_one_withdrawn() {
    let fixture = Fixture::with_short_receipt_time().await;
    fixture.chain().set_depths(TagDepths { safe: 2, finalized: 4 });
    let settler = fixture.settler();
    fixture.chain().set_mining(MiningMode::Held);
    let sent = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    let fresh = Payment::prepare(&settler, fixture.authorization()).await.unwrap();
    sent.settle(&settler).await.unwrap_err();
    let follower = fixture.settler();
    fixture.chains.close().await;
    for settler in [&settler, &follower] {
        let lost = sent.settle(settler).await;
        assert!(matches!(lost, Err(Unsettled::Lost(_))), "{lost:?}");
        let withdrawn = fresh.settle(settler).await;
        assert!(matches!(withdrawn, Err(Unsettled::Withdrawn(_))), "{withdrawn:?}");
    }
}

#[tokio::test]
async fn a_preparation_of_another_form_is_not_settled_and_its_payment_is_traced() {
    let (fixture, settler) = fixture_with_depths().await;
    let authorization = fixture.authorization();
    for bytes in [Vec::new(), b"{}".to_vec(), vec![0xff; 9]] {
        let payment =
            Payment { authorization: authorization.clone(), preparation: Preparation(bytes) };
        assert!(matches!(payment.settle(&settler).await, Err(Unsettled::Lost(_))));
        assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Open));
        let earlier = Some(&payment.preparation);
        let again = settler.prepare(&authorization, CHARGE, earlier).await.map(drop);
        assert_eq!(again, Err(Rejection::Unavailable));
    }
    // As after a facilitator, whose payments have come to us.
    let moved = pay(&settler, authorization.clone()).await.unwrap();
    let payment = Payment { authorization, preparation: Preparation(vec![0; 8]) };
    assert_eq!(payment.trace(&settler).await, Ok(TransferStatus::Moved(moved)));
    let unused =
        Payment { authorization: fixture.authorization(), preparation: Preparation(vec![0; 8]) };
    fixture.clock.forward(AUTHORIZATION_SECONDS + 1);
    fixture.chain().mine(6);
    assert_eq!(unused.trace(&settler).await, Ok(TransferStatus::Void));
}
