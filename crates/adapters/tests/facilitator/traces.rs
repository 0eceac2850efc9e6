//! What the chain proves: movements, burned promises, reorganisations, finality, and nodes in trouble.

use order::model::chain::Network;
use order::model::payment::{Finality, Preparation};
use order::ports::{Clock, Failure};
use order::tender::{Rejection, Unsettled};
use pay::movement::Movement;
use pay::x402::facilitator::{Due, Facilitator};
use sandbox::chain::{Depths, Fate, Fault, Rule as ChainRule};
use sandbox::facilitator::fault::{Kind, Operation, Rule};

use crate::town::{Begun, CHARGE, LIFE_SECONDS, Town};

const NETWORK: Network = Network::Arbitrum;

/// A payment whose answer was lost, carried out or not.
async fn lost(town: &Town, kind: Kind) -> Begun {
    let begun = town.ready(NETWORK).await;
    town.emulated.add_fault(Rule::new(kind).on(Operation::Settle).once());
    assert!(matches!(town.settle(&begun).await, Err(Unsettled::Lost(_))));
    begun
}

fn finality(traced: Result<Movement, Failure>) -> Finality {
    match traced {
        Ok(Movement::Moved(moved)) => moved.finality,
        other => panic!("moved, and not {other:?}"),
    }
}

#[tokio::test]
async fn a_burned_nonce_is_void_once_the_burning_is_final() {
    let town = Town::seeing().await;
    let begun = lost(&town, Kind::CutBefore).await;
    town.chain(NETWORK).set_depths(Depths { safe: 0, finalized: 3 });
    town.burn(&begun);
    assert_eq!(town.trace(&begun).await, Ok(Movement::Open), "the chain may change its mind");
    town.chain(NETWORK).mine(3);
    assert_eq!(town.trace(&begun).await, Ok(Movement::Void));
}

#[tokio::test]
async fn a_nonce_that_is_burned_after_it_paid_has_paid() {
    let town = Town::seeing().await;
    let begun = lost(&town, Kind::CutAfter).await;
    town.burn(&begun);
    assert_eq!(finality(town.trace(&begun).await), Finality::Final);
}

#[tokio::test]
async fn the_same_payers_other_payment_of_the_same_amount_is_not_taken_for_this_one() {
    let town = Town::seeing().await;
    let first = lost(&town, Kind::CutBefore).await;
    let second = town.ready(NETWORK).await;
    let moved = town.settle(&second).await.unwrap();
    assert_eq!(town.trace(&first).await, Ok(Movement::Open));
    town.burn(&first);
    assert_eq!(town.trace(&first).await, Ok(Movement::Void));
    let Ok(Movement::Moved(found)) = town.trace(&second).await else { panic!("moved") };
    assert_eq!(found.transaction, moved.transaction);
    assert_eq!(town.paid(NETWORK), 2_117_500);
}

#[tokio::test]
async fn a_transfer_is_provisional_until_its_block_is_final() {
    let town = Town::seeing().await;
    town.chain(NETWORK).set_depths(Depths { safe: 0, finalized: 5 });
    let begun = lost(&town, Kind::CutAfter).await;
    assert_eq!(finality(town.trace(&begun).await), Finality::Provisional);
    town.chain(NETWORK).mine(4);
    assert_eq!(finality(town.trace(&begun).await), Finality::Provisional);
    town.chain(NETWORK).mine(1);
    assert_eq!(finality(town.trace(&begun).await), Finality::Final);
}

#[tokio::test]
async fn a_reorganisation_takes_the_money_back_and_gives_it_again() {
    let town = Town::seeing().await;
    let chain = town.chain(NETWORK);
    chain.set_depths(Depths { safe: 0, finalized: 20 });
    let begun = lost(&town, Kind::CutAfter).await;
    chain.reorganise(1, Fate::Waiting);
    assert_eq!(town.trace(&begun).await, Ok(Movement::Open));
    chain.mine(1);
    assert_eq!(finality(town.trace(&begun).await), Finality::Provisional);

    let begun = lost(&town, Kind::CutAfter).await;
    chain.reorganise(1, Fate::Dropped);
    assert_eq!(town.trace(&begun).await, Ok(Movement::Open));
    town.settle(&begun).await.unwrap();
    assert_eq!(finality(town.trace(&begun).await), Finality::Provisional);
    assert_eq!(town.paid(NETWORK), 2 * 2_117_500);
}

#[tokio::test]
async fn only_the_chains_own_final_time_ends_a_promise() {
    let town = Town::seeing().await;
    let begun = lost(&town, Kind::CutBefore).await;
    town.chain(NETWORK).set_depths(Depths { safe: 0, finalized: 4 });
    town.chain(NETWORK).mine(10);
    // The latest block is past it, the finalized one is not.
    town.pass(NETWORK, LIFE_SECONDS + 100);
    assert_eq!(town.trace(&begun).await, Ok(Movement::Open));
    town.chain(NETWORK).mine(3);
    assert_eq!(town.trace(&begun).await, Ok(Movement::Open));
    town.chain(NETWORK).mine(1);
    assert_eq!(town.trace(&begun).await, Ok(Movement::Void));
}

#[tokio::test]
async fn a_transfer_is_found_many_blocks_behind_its_beginning_and_long_after() {
    let town = Town::seeing().await;
    let begun = town.ready(NETWORK).await;
    town.chain(NETWORK).mine(2_500);
    town.emulated.add_fault(Rule::new(Kind::CutAfter).on(Operation::Settle).once());
    assert!(matches!(town.settle(&begun).await, Err(Unsettled::Lost(_))));
    town.pass(NETWORK, 10 * LIFE_SECONDS);
    town.chain(NETWORK).mine(1_000);
    town.chain(NETWORK).clear_journal();
    assert_eq!(finality(town.trace(&begun).await), Finality::Final);
    let counts = town.chain(NETWORK).counts();
    assert_eq!(counts.get("eth_getLogs"), Some(&1));
    assert!((12..30).contains(&counts["eth_call"]), "{counts:?}");
}

#[tokio::test]
async fn what_is_paid_becomes_final_on_a_node_that_has_forgotten_the_states_of_its_blocks() {
    let town = Town::seeing().await;
    let (begun, other) = (town.ready(NETWORK).await, town.ready(NETWORK).await);
    let moved = town.settle(&begun).await.unwrap();
    let elsewhere = town.settle(&other).await.unwrap();
    let forgotten = Fault::Error { code: -32000, message: "missing trie node".to_owned() };
    town.chain(NETWORK)
        .add_fault(ChainRule { times: None, ..ChainRule::once(forgotten, "eth_call") });
    let told = async |hash: &str| town.remote.trace(begun.due(), Some(hash)).await;
    assert_eq!(finality(told(&moved.transaction).await), Finality::Final);
    // What is said to have moved it proves nothing by itself.
    for hash in [elsewhere.transaction.as_str(), &format!("0x{}", "1".repeat(64)), "", "0x"] {
        assert!(matches!(told(hash).await, Err(Failure::Lost(_))), "{hash}");
    }
    town.chain(NETWORK).clear_faults();
    assert_eq!(finality(town.remote.trace(begun.due(), Some("0x")).await), Finality::Final);
    let found = town.remote.trace(begun.due(), Some(&elsewhere.transaction)).await;
    let Ok(Movement::Moved(found)) = found else { panic!("{found:?}") };
    assert_eq!(found.transaction, moved.transaction);
}

#[tokio::test]
async fn without_a_note_of_the_block_before_it_a_use_is_found_all_the_same() {
    let town = Town::seeing().await;
    let unused = lost(&town, Kind::CutBefore).await;
    town.chain(NETWORK).mine(40);
    let used = lost(&town, Kind::CutAfter).await;
    let trace = async |begun: &Begun| {
        let empty = Preparation::default();
        let due = Due { promise: &begun.promise, charge: CHARGE, preparation: &empty };
        town.remote.trace(due, None).await
    };
    for blocks in [0, 1, 20, 300] {
        town.chain(NETWORK).mine(blocks);
        assert_eq!(finality(trace(&used).await), Finality::Final, "{blocks}");
    }
    assert_eq!(trace(&unused).await, Ok(Movement::Open));
    town.pass(NETWORK, LIFE_SECONDS + 1);
    assert_eq!(trace(&unused).await, Ok(Movement::Void));
}

#[tokio::test]
async fn a_node_in_trouble_proves_nothing_and_begins_nothing() {
    let town = Town::seeing().await;
    let begun = lost(&town, Kind::CutAfter).await;
    let promise = town.promise(NETWORK, &town.payer());
    for fault in [
        Fault::Reset,
        Fault::Unavailable,
        Fault::Garbage,
        Fault::RateLimited { seconds: 1 },
        Fault::Error { code: -32000, message: "no".to_owned() },
    ] {
        town.chain(NETWORK).add_fault(ChainRule::always(fault.clone()));
        let traced = town.trace(&begun).await;
        assert!(matches!(traced, Err(Failure::Lost(_))), "{fault:?}: {traced:?}");
        let prepared = town.remote.prepare(&promise, CHARGE, None).await;
        assert!(matches!(prepared, Err(Rejection::Unavailable)), "{fault:?}");
        town.chain(NETWORK).clear_faults();
    }
    // One question out of many unanswered is enough.
    for method in [
        "eth_getBlockByNumber",
        "eth_call",
        "eth_getLogs",
        "eth_getTransactionReceipt",
        "eth_getTransactionByHash",
    ] {
        town.chain(NETWORK).add_fault(ChainRule::once(Fault::Unavailable, method));
        let traced = town.trace(&begun).await;
        assert!(matches!(traced, Err(Failure::Lost(_))), "{method}: {traced:?}");
    }
    assert_eq!(finality(town.trace(&begun).await), Finality::Final);
}

#[tokio::test]
async fn a_node_that_has_not_seen_the_block_finds_nothing_and_concludes_nothing() {
    let town = Town::seeing().await;
    let begun = lost(&town, Kind::CutAfter).await;
    let behind = ChainRule::always(Fault::Stale { blocks: 1 });
    town.chain(NETWORK).add_fault(behind);
    assert_eq!(town.trace(&begun).await, Ok(Movement::Open));
    town.chain(NETWORK).clear_faults();
    assert_eq!(finality(town.trace(&begun).await), Finality::Final);
    assert_eq!(town.watch.uptime(), 0);
}

/// A range of blocks without an event is what such a node would say as well.
#[tokio::test]
async fn a_payment_that_a_node_does_not_show_is_never_void() {
    let town = Town::seeing().await;
    let chain = town.chain(NETWORK);
    let begun = lost(&town, Kind::CutAfter).await;
    // Burned as well: the one event that could be taken for the whole story.
    town.burn(&begun);
    let stale = || Fault::Stale { blocks: 9 };
    for over in [false, true] {
        for fault in [stale(), Fault::Silent] {
            for (skip, times) in [(0, Some(1)), (0, None), (1, None)] {
                chain.add_fault(ChainRule {
                    skip,
                    times,
                    ..ChainRule::once(fault.clone(), "eth_getLogs")
                });
                let traced = town.trace(&begun).await;
                assert_ne!(traced, Ok(Movement::Void), "{over} {fault:?} {skip} {times:?}");
                chain.clear_faults();
            }
        }
        for method in ["eth_getBlockByNumber", "eth_call", "eth_getTransactionReceipt"] {
            for skip in 0..6 {
                chain.add_fault(ChainRule { skip, ..ChainRule::once(stale(), method) });
                let traced = town.trace(&begun).await;
                assert_ne!(traced, Ok(Movement::Void), "{over} {method} {skip}");
                chain.clear_faults();
            }
        }
        assert_eq!(finality(town.trace(&begun).await), Finality::Final);
        town.pass(NETWORK, LIFE_SECONDS + 1);
        chain.mine(8);
    }
}

#[tokio::test]
async fn a_burned_nonce_that_a_node_does_not_show_is_open_and_then_for_a_person() {
    let town = Town::seeing().await;
    let begun = lost(&town, Kind::CutBefore).await;
    town.burn(&begun);
    let silent = ChainRule { times: None, ..ChainRule::once(Fault::Silent, "eth_getLogs") };
    town.chain(NETWORK).add_fault(silent);
    assert_eq!(town.trace(&begun).await, Ok(Movement::Open));
    town.pass(NETWORK, LIFE_SECONDS + 1);
    let Err(Failure::Lost(words)) = town.trace(&begun).await else { panic!("a person decides") };
    assert!(words.contains("look at the chain"), "{words}");
    town.chain(NETWORK).clear_faults();
    assert_eq!(town.trace(&begun).await, Ok(Movement::Void));
}

#[tokio::test]
async fn a_burning_that_a_reorganisation_takes_back_leaves_the_promise_to_be_paid() {
    let town = Town::seeing().await;
    let chain = town.chain(NETWORK);
    chain.set_depths(Depths { safe: 0, finalized: 4 });
    let begun = lost(&town, Kind::CutBefore).await;
    town.burn(&begun);
    chain.mine(3);
    assert_eq!(town.trace(&begun).await, Ok(Movement::Open));
    chain.reorganise(4, Fate::Dropped);
    assert_eq!(town.trace(&begun).await, Ok(Movement::Open));
    town.settle(&begun).await.unwrap();
    chain.mine(4);
    assert_eq!(finality(town.trace(&begun).await), Finality::Final);
    assert_eq!(town.paid(NETWORK), 2_117_500);
}
