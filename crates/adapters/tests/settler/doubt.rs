//! What proves that money moved, what proves that it never will, and what proves nothing.

use adapters::settler::{Limits, Settler};
use order::payment::{Finality, Preparation};
use order::ports::Failure;
use order::tender::Rejection;
use pay::movement::{Moved, Movement};
use pay::x402::facilitator::Facilitator;
use sandbox::chain::{Depths, Fate, Fault, Mining, Rule};

use crate::house::{BASE, House, PROMISE_SECONDS, Payment, atomic, pay};
use crate::signing::{CHARGE, Terms, cancellation};

/// Blocks stay once four others stand on them.
async fn house_in_doubt() -> (House, Settler) {
    let house = House::open().await;
    house.chain().set_depths(Depths { safe: 2, finalized: 4 });
    let settler = house.settler();
    (house, settler)
}

fn finality(movement: &Result<Movement, Failure>) -> Option<Finality> {
    match movement {
        Ok(Movement::Moved(Moved { finality, .. })) => Some(*finality),
        Ok(Movement::Open | Movement::Void) | Err(_) => None,
    }
}

#[tokio::test]
async fn money_is_provisional_until_its_block_stays() {
    let (house, settler) = house_in_doubt().await;
    let payment = Payment::prepare(&settler, house.promise()).await.unwrap();
    let moved = payment.settle(&settler).await.unwrap();
    assert_eq!(moved.finality, Finality::Provisional);
    house.chain().mine(3);
    assert_eq!(finality(&payment.trace(&settler).await), Some(Finality::Provisional));
    house.chain().mine(1);
    assert_eq!(finality(&payment.trace(&settler).await), Some(Finality::Final));
}

#[tokio::test]
async fn a_node_that_knows_no_final_blocks_is_asked_for_safe_and_then_for_old_ones() {
    let (house, _) = house_in_doubt().await;
    let chain = house.chain();
    let new_here = || house.settler_within(Limits { confirmations: 1, ..Limits::of(BASE) });
    let settler = new_here();
    let payment = Payment::prepare(&settler, house.promise()).await.unwrap();
    payment.settle(&settler).await.unwrap();
    let unknown = |times| Rule {
        times: Some(times),
        ..Rule::once(
            Fault::Error { code: -32602, message: "invalid block tag".to_owned() },
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
    let busy = Fault::Error { code: -32005, message: "limit exceeded".to_owned() };
    chain.add_fault(Rule::once(busy, "eth_getBlockByNumber"));
    assert!(payment.trace(&settler).await.is_err());
}

#[tokio::test]
async fn a_reorganisation_that_forgets_the_transaction_leaves_it_open_and_it_goes_in_again() {
    let (house, settler) = house_in_doubt().await;
    let payment = Payment::prepare(&settler, house.promise()).await.unwrap();
    payment.settle(&settler).await.unwrap();
    house.chain().reorganise(1, Fate::Dropped);
    assert_eq!(house.paid(), 0);
    assert_eq!(payment.trace(&settler).await, Ok(Movement::Open));
    // A payment that comes in between does not take its number.
    let other = Payment::prepare(&settler, house.promise_of("other")).await.unwrap();
    payment.settle(&settler).await.unwrap();
    other.settle(&settler).await.unwrap();
    assert_eq!((house.paid(), payment.signed(), other.signed()), (atomic(2), 1, 1));
    assert_eq!(house.chain().nonce_of(house.carrier()), 2);
}

#[tokio::test]
async fn a_reorganisation_that_keeps_the_transaction_changes_its_block_and_nothing_else() {
    let (house, settler) = house_in_doubt().await;
    let payment = Payment::prepare(&settler, house.promise()).await.unwrap();
    let moved = payment.settle(&settler).await.unwrap();
    house.chain().reorganise(1, Fate::MinedAgain);
    assert_eq!(payment.trace(&settler).await, Ok(Movement::Moved(moved)));
    house.chain().reorganise(2, Fate::Waiting);
    assert_eq!(payment.trace(&settler).await, Ok(Movement::Open));
    house.chain().mine(1);
    assert_eq!(finality(&payment.trace(&settler).await), Some(Finality::Provisional));
    assert_eq!(house.paid(), atomic(1));
}

#[tokio::test]
async fn a_promise_that_was_never_sent_is_void_when_the_chain_itself_is_past_its_deadline() {
    let (house, settler) = house_in_doubt().await;
    let payment = Payment::prepare(&settler, house.promise()).await.unwrap();
    // Our own clock has no say.
    house.watch.forward(10 * PROMISE_SECONDS);
    assert_eq!(payment.trace(&settler).await, Ok(Movement::Open));
    house.chain().mine(1);
    assert_eq!(payment.trace(&settler).await, Ok(Movement::Open), "it may be replaced");
    house.chain().mine(3);
    assert_eq!(payment.trace(&settler).await, Ok(Movement::Open));
    house.chain().mine(1);
    assert_eq!(payment.trace(&settler).await, Ok(Movement::Void));
    // And so it is: sent after all, it does nothing.
    house.chain().send(&payment.raw()).unwrap();
    assert_eq!(house.paid(), 0);
    assert_eq!(payment.trace(&settler).await, Ok(Movement::Void));
}

#[tokio::test]
async fn the_last_second_of_a_promise_still_counts() {
    let (house, settler) = house_in_doubt().await;
    let payment = Payment::prepare(&settler, house.promise()).await.unwrap();
    house.watch.forward(PROMISE_SECONDS);
    house.chain().mine(5);
    assert_eq!(payment.trace(&settler).await, Ok(Movement::Open));
    let moved = payment.settle(&settler).await.unwrap();
    assert_eq!(moved.at.0, payment.promise.deadline);
}

#[tokio::test]
async fn a_transaction_that_failed_is_refused_only_in_a_block_that_stays() {
    let (house, settler) = house_in_doubt().await;
    let chain = house.chain();
    let revert = || Rule::once(Fault::Revert, "eth_sendRawTransaction");
    let mut payment = Payment::prepare(&settler, house.promise()).await.unwrap();
    chain.add_fault(revert());
    let lost = payment.settle(&settler).await;
    assert!(matches!(lost, Err(Failure::Lost(_))), "{lost:?}");
    // The promise is unspent, so it is tried again under another number.
    assert_eq!(payment.trace(&settler).await, Ok(Movement::Open));
    assert!(matches!(payment.chase(&house, &settler).await, Movement::Moved(_)));
    assert_eq!((payment.signed(), house.paid()), (2, atomic(1)));

    chain.set_depths(Depths::default());
    let payment = Payment::prepare(&settler, house.promise()).await.unwrap();
    chain.add_fault(revert());
    let refused = payment.settle(&settler).await;
    assert!(matches!(refused, Err(Failure::Refused(_))), "{refused:?}");
    assert_eq!(house.paid(), atomic(1));
}

#[tokio::test]
async fn a_payer_who_takes_the_promise_back_has_voided_it_once_that_stays() {
    let (house, settler) = house_in_doubt().await;
    let chain = house.chain();
    let key = house.chains.faucet().payer();
    let payment = Payment::prepare(&settler, house.promise()).await.unwrap();
    let other = Payment::prepare(&settler, house.promise()).await.unwrap();
    chain.send(&cancellation(&payment.promise, &key, 0)).unwrap();
    let again = settler.prepare(&payment.promise, CHARGE, Some(&payment.preparation)).await;
    let used = Rejection::Invalid("permit2_invalid_nonce".to_owned());
    assert_eq!(again.map(drop), Err(used));
    assert_eq!(payment.trace(&settler).await, Ok(Movement::Open), "it may be undone");
    let lost = payment.settle(&settler).await;
    assert!(matches!(lost, Err(Failure::Lost(_))), "{lost:?}");
    chain.mine(4);
    assert_eq!(payment.trace(&settler).await, Ok(Movement::Void));
    assert_eq!(house.paid(), 0);
    // The nonce beside it in the same word is not meant.
    other.settle(&settler).await.unwrap();
    assert_eq!(house.paid(), atomic(1));
}

/// A promise whose nonce the payer has signed away to a stranger, and that transaction.
async fn spent_elsewhere(house: &House, settler: &Settler) -> (Payment, Vec<u8>) {
    let key = house.chains.faucet().payer();
    let terms = house.terms(key.address());
    let payment = Payment::prepare(settler, terms.signed_by(&key)).await.unwrap();
    let stranger = house.chains.key("stranger").address();
    let elsewhere = Terms { pay_to: stranger, ..terms }.signed_by(&key);
    let elsewhere = Payment::prepare(&house.settler(), elsewhere).await.unwrap();
    (payment, elsewhere.raw())
}

#[tokio::test]
async fn a_nonce_that_was_spent_on_something_else_is_void_once_that_stays() {
    let (house, settler) = house_in_doubt().await;
    let (payment, elsewhere) = spent_elsewhere(&house, &settler).await;
    house.chain().send(&elsewhere).unwrap();
    assert_eq!(house.chain().usdc_of(house.chains.key("stranger").address()), atomic(1));
    house.chain().mine(3);
    assert_eq!(payment.trace(&settler).await, Ok(Movement::Open), "a used nonce proves nothing");
    house.chain().mine(1);
    assert_eq!(payment.trace(&settler).await, Ok(Movement::Void));
    assert_eq!(house.paid(), 0);
}

#[tokio::test]
async fn a_reorganisation_that_undoes_another_use_leaves_the_promise_open_and_it_pays() {
    let (house, settler) = house_in_doubt().await;
    let chain = house.chain();
    let (payment, elsewhere) = spent_elsewhere(&house, &settler).await;
    chain.send(&elsewhere).unwrap();
    chain.mine(2);
    chain.reorganise(3, Fate::MinedAgain);
    assert_eq!(payment.trace(&settler).await, Ok(Movement::Open), "in another block, no older");
    chain.reorganise(4, Fate::Dropped);
    assert_eq!(payment.trace(&settler).await, Ok(Movement::Open));
    payment.settle(&settler).await.unwrap();
    chain.mine(4);
    assert_eq!(finality(&payment.trace(&settler).await), Some(Finality::Final));
    assert_eq!(house.paid(), atomic(1));
}

/// Another process signed for the same promise, and what it kept was lost.
#[tokio::test]
async fn a_transfer_that_nobody_remembers_signing_is_found_by_what_it_did() {
    let (house, settler) = house_in_doubt().await;
    let promise = house.promise();
    let forgotten = Payment::prepare(&house.settler(), promise.clone()).await.unwrap();
    house.chain().set_base_fee(12_000_000);
    let kept = Payment::prepare(&settler, promise).await.unwrap();
    assert_ne!(forgotten.raw(), kept.raw());
    house.chain().send(&forgotten.raw()).unwrap();
    house.chain().mine(5);
    let found = kept.trace(&settler).await;
    let Ok(Movement::Moved(moved)) = found else { panic!("{found:?}") };
    assert_eq!(moved.transaction, alloy_primitives::keccak256(forgotten.raw()).to_string());
    assert_eq!(moved.finality, Finality::Final);
}

/// Money from the same payer to the same seller, but for another promise.
#[tokio::test]
async fn a_payment_for_another_promise_is_not_taken_for_this_one() {
    let (house, settler) = house_in_doubt().await;
    let key = house.chains.faucet().payer();
    let other = Payment::prepare(&settler, house.promise()).await.unwrap();
    let payment = Payment::prepare(&settler, house.promise()).await.unwrap();
    other.settle(&settler).await.unwrap();
    house.chain().send(&cancellation(&payment.promise, &key, 0)).unwrap();
    assert_eq!(payment.trace(&settler).await, Ok(Movement::Open));
    house.chain().mine(4);
    assert_eq!(payment.trace(&settler).await, Ok(Movement::Void));
    assert_eq!(finality(&other.trace(&settler).await), Some(Finality::Final));
}

#[tokio::test]
async fn a_node_that_is_behind_never_makes_a_payment_void() {
    let (house, settler) = house_in_doubt().await;
    let chain = house.chain();
    let payment = Payment::prepare(&settler, house.promise()).await.unwrap();
    payment.settle(&settler).await.unwrap();
    house.watch.forward(PROMISE_SECONDS + 1);
    chain.mine(8);
    let stale = || Fault::Stale { blocks: 9 };
    let blind = || Rule { times: None, ..Rule::once(stale(), "eth_getTransactionReceipt") };
    let mut doubts = 0;
    for method in ["eth_getBlockByNumber", "eth_call", "eth_getLogs", "eth_getTransactionByHash"] {
        for (skip, times) in (0..8).flat_map(|skip| [(skip, Some(1)), (skip, None)]) {
            // The receipts are asked of one that is behind, and so is more.
            chain.add_fault(blind());
            chain.add_fault(Rule { skip, times, ..Rule::once(stale(), method) });
            let seen = payment.trace(&settler).await;
            let open = matches!(seen, Ok(Movement::Open) | Err(Failure::Lost(_)));
            assert!(open, "{method} {skip} {times:?}: {seen:?}");
            doubts += u32::from(seen.is_err());
            chain.clear_faults();
        }
    }
    assert!(doubts > 50, "{doubts}");
    chain.add_fault(Rule::always(stale()));
    assert_eq!(payment.trace(&settler).await, Ok(Movement::Open));
    chain.clear_faults();
    assert_eq!(finality(&payment.trace(&settler).await), Some(Finality::Final));
}

/// It has the block, and keeps no events; or it lost the receipt, and has the events.
#[tokio::test]
async fn silence_about_the_block_that_used_a_nonce_proves_nothing() {
    let (house, settler) = house_in_doubt().await;
    let (chain, key) = (house.chain(), house.chains.faucet().payer());
    let paid = Payment::prepare(&settler, house.promise()).await.unwrap();
    let burned = Payment::prepare(&settler, house.promise()).await.unwrap();
    paid.settle(&settler).await.unwrap();
    chain.send(&cancellation(&burned.promise, &key, 0)).unwrap();
    chain.mine(5);
    let always = |fault, method| Rule { times: None, ..Rule::once(fault, method) };
    let silent = || always(Fault::Silent, "eth_getLogs");
    let forgetful = || always(Fault::Stale { blocks: 99 }, "eth_getTransactionReceipt");
    for rules in [vec![silent(), forgetful()], vec![forgetful()]] {
        rules.into_iter().for_each(|rule| chain.add_fault(rule));
        let seen = paid.trace(&settler).await;
        assert!(matches!(seen, Ok(Movement::Open) | Err(Failure::Lost(_))), "{seen:?}");
        chain.clear_faults();
    }
    chain.add_fault(silent());
    assert_eq!(burned.trace(&settler).await, Ok(Movement::Open));
    house.watch.forward(PROMISE_SECONDS + 1);
    chain.mine(5);
    for payment in [&paid, &burned] {
        chain.add_fault(forgetful());
        let seen = payment.trace(&settler).await;
        assert!(matches!(seen, Err(Failure::Lost(_))), "for a person: {seen:?}");
    }
    chain.clear_faults();
    assert_eq!(finality(&paid.trace(&settler).await), Some(Finality::Final));
    assert_eq!(burned.trace(&settler).await, Ok(Movement::Void));
}

/// As most nodes do, this one remembers the last states only.
#[tokio::test]
async fn a_use_is_found_among_the_states_that_the_node_still_remembers() {
    let (house, settler) = house_in_doubt().await;
    let (chain, key) = (house.chain(), house.chains.faucet().payer());
    let old = Payment::prepare(&settler, house.promise()).await.unwrap();
    chain.send(&cancellation(&old.promise, &key, 0)).unwrap();
    chain.mine(4_000);
    let recent = Payment::prepare(&settler, house.promise()).await.unwrap();
    chain.send(&cancellation(&recent.promise, &key, 1)).unwrap();
    // 4,096 blocks are kept: the first use is gone, the second is not.
    chain.mine(100);
    assert_eq!(recent.trace(&settler).await, Ok(Movement::Void));
    let seen = old.trace(&settler).await;
    assert!(matches!(seen, Err(Failure::Lost(_))), "{seen:?}");
}

#[tokio::test]
async fn a_node_that_cannot_be_reached_refuses_only_what_was_never_sent() {
    let (house, settler) = house_in_doubt().await;
    house.chain().set_mining(Mining::Held);
    let sent = Payment::prepare(&settler, house.promise()).await.unwrap();
    let fresh = Payment::prepare(&settler, house.promise()).await.unwrap();
    sent.settle(&settler).await.unwrap_err();
    let after_a_restart = house.settler();
    house.chains.close().await;
    for settler in [&settler, &after_a_restart] {
        let lost = sent.settle(settler).await;
        assert!(matches!(lost, Err(Failure::Lost(_))), "{lost:?}");
    }
    let refused = fresh.settle(&settler).await;
    assert!(matches!(refused, Err(Failure::Refused(_))), "{refused:?}");
}

#[tokio::test]
async fn a_preparation_of_somebody_elses_is_not_settled_and_its_payment_is_found() {
    let (house, settler) = house_in_doubt().await;
    let promise = house.promise();
    for bytes in [Vec::new(), b"{}".to_vec(), vec![0xff; 9]] {
        let payment = Payment { promise: promise.clone(), preparation: Preparation(bytes) };
        assert!(matches!(payment.settle(&settler).await, Err(Failure::Lost(_))));
        assert_eq!(payment.trace(&settler).await, Ok(Movement::Open));
        let earlier = Some(&payment.preparation);
        let again = settler.prepare(&promise, CHARGE, earlier).await.map(drop);
        assert_eq!(again, Err(Rejection::Unavailable));
    }
    // As after a facilitator, whose payments have come to us.
    let moved = pay(&settler, promise.clone()).await.unwrap();
    let payment = Payment { promise, preparation: Preparation(vec![0; 8]) };
    assert_eq!(payment.trace(&settler).await, Ok(Movement::Moved(moved)));
    let unused = Payment { promise: house.promise(), preparation: Preparation(vec![0; 8]) };
    house.watch.forward(PROMISE_SECONDS + 1);
    house.chain().mine(6);
    assert_eq!(unused.trace(&settler).await, Ok(Movement::Void));
}
