//! What the chain proves: payments, used nonces, reorganisations, finality, and faulty nodes.

use order::model::chain::Network;
use order::model::payment::{Finality, Preparation};
use order::ports::{Clock, Failure};
use order::tender::{Rejection, Unsettled};
use pay::transfer::TransferStatus;
use pay::x402::settler::{Permit2Payment, Permit2Settler};
use sandbox::chain::{NodeFault, NodeFaultRule as ChainRule, ReorgedTransactions, TagDepths};
use sandbox::facilitator::fault::{FacilitatorFault, FacilitatorFaultRule, FacilitatorOperation};

use crate::fixture::{Begun, CHARGE, FacilitatorFixture, LIFE_SECONDS};

const NETWORK: Network = Network::Arbitrum;

/// A payment whose answer was lost, carried out or not.
async fn lost(fixture: &FacilitatorFixture, kind: FacilitatorFault) -> Begun {
    let begun = fixture.ready(NETWORK).await;
    fixture
        .emulated
        .add_fault(FacilitatorFaultRule::new(kind).on(FacilitatorOperation::Settle).once());
    assert!(matches!(fixture.settle(&begun).await, Err(Unsettled::Lost(_))));
    begun
}

fn finality(traced: Result<TransferStatus, Failure>) -> Finality {
    match traced {
        Ok(TransferStatus::Moved(moved)) => moved.finality,
        other => panic!("moved, and not {other:?}"),
    }
}

#[tokio::test]
async fn a_burned_nonce_is_void_once_the_burning_is_final() {
    let fixture = FacilitatorFixture::seeing().await;
    let begun = lost(&fixture, FacilitatorFault::CutBefore).await;
    fixture.chain(NETWORK).set_depths(TagDepths { safe: 0, finalized: 3 });
    fixture.burn(&begun);
    assert_eq!(
        fixture.trace(&begun).await,
        Ok(TransferStatus::Open),
        "the chain may change its mind"
    );
    fixture.chain(NETWORK).mine(3);
    assert_eq!(fixture.trace(&begun).await, Ok(TransferStatus::Void));
}

#[tokio::test]
async fn a_nonce_that_is_burned_after_it_paid_has_paid() {
    let fixture = FacilitatorFixture::seeing().await;
    let begun = lost(&fixture, FacilitatorFault::CutAfter).await;
    fixture.burn(&begun);
    assert_eq!(finality(fixture.trace(&begun).await), Finality::Final);
}

#[tokio::test]
async fn the_same_payers_other_payment_of_the_same_amount_is_not_taken_for_this_one() {
    let fixture = FacilitatorFixture::seeing().await;
    let first = lost(&fixture, FacilitatorFault::CutBefore).await;
    let second = fixture.ready(NETWORK).await;
    let moved = fixture.settle(&second).await.unwrap();
    assert_eq!(fixture.trace(&first).await, Ok(TransferStatus::Open));
    fixture.burn(&first);
    assert_eq!(fixture.trace(&first).await, Ok(TransferStatus::Void));
    let Ok(TransferStatus::Moved(found)) = fixture.trace(&second).await else { panic!("moved") };
    assert_eq!(found.transaction, moved.transaction);
    assert_eq!(fixture.paid(NETWORK), 2_117_500);
}

#[tokio::test]
async fn a_transfer_is_provisional_until_its_block_is_final() {
    let fixture = FacilitatorFixture::seeing().await;
    fixture.chain(NETWORK).set_depths(TagDepths { safe: 0, finalized: 5 });
    let begun = lost(&fixture, FacilitatorFault::CutAfter).await;
    assert_eq!(finality(fixture.trace(&begun).await), Finality::Provisional);
    fixture.chain(NETWORK).mine(4);
    assert_eq!(finality(fixture.trace(&begun).await), Finality::Provisional);
    fixture.chain(NETWORK).mine(1);
    assert_eq!(finality(fixture.trace(&begun).await), Finality::Final);
}

#[tokio::test]
async fn a_reorganisation_takes_the_money_back_and_gives_it_again() {
    let fixture = FacilitatorFixture::seeing().await;
    let chain = fixture.chain(NETWORK);
    chain.set_depths(TagDepths { safe: 0, finalized: 20 });
    let begun = lost(&fixture, FacilitatorFault::CutAfter).await;
    chain.reorganise(1, ReorgedTransactions::Waiting);
    assert_eq!(fixture.trace(&begun).await, Ok(TransferStatus::Open));
    chain.mine(1);
    assert_eq!(finality(fixture.trace(&begun).await), Finality::Provisional);

    let begun = lost(&fixture, FacilitatorFault::CutAfter).await;
    chain.reorganise(1, ReorgedTransactions::Dropped);
    assert_eq!(fixture.trace(&begun).await, Ok(TransferStatus::Open));
    fixture.settle(&begun).await.unwrap();
    assert_eq!(finality(fixture.trace(&begun).await), Finality::Provisional);
    assert_eq!(fixture.paid(NETWORK), 2 * 2_117_500);
}

#[tokio::test]
async fn only_the_chains_own_final_time_ends_an_authorization() {
    let fixture = FacilitatorFixture::seeing().await;
    let begun = lost(&fixture, FacilitatorFault::CutBefore).await;
    fixture.chain(NETWORK).set_depths(TagDepths { safe: 0, finalized: 4 });
    fixture.chain(NETWORK).mine(10);
    // The latest block is past it, the finalized one is not.
    fixture.pass(NETWORK, LIFE_SECONDS + 100);
    assert_eq!(fixture.trace(&begun).await, Ok(TransferStatus::Open));
    fixture.chain(NETWORK).mine(3);
    assert_eq!(fixture.trace(&begun).await, Ok(TransferStatus::Open));
    fixture.chain(NETWORK).mine(1);
    assert_eq!(fixture.trace(&begun).await, Ok(TransferStatus::Void));
}

#[tokio::test]
async fn a_transfer_is_found_many_blocks_behind_its_beginning_and_long_after() {
    let fixture = FacilitatorFixture::seeing().await;
    let begun = fixture.ready(NETWORK).await;
    fixture.chain(NETWORK).mine(2_500);
    fixture.emulated.add_fault(
        FacilitatorFaultRule::new(FacilitatorFault::CutAfter)
            .on(FacilitatorOperation::Settle)
            .once(),
    );
    assert!(matches!(fixture.settle(&begun).await, Err(Unsettled::Lost(_))));
    fixture.pass(NETWORK, 10 * LIFE_SECONDS);
    fixture.chain(NETWORK).mine(1_000);
    fixture.chain(NETWORK).clear_journal();
    assert_eq!(finality(fixture.trace(&begun).await), Finality::Final);
    let counts = fixture.chain(NETWORK).counts();
    assert_eq!(counts.get("eth_getLogs"), Some(&1));
    assert!((12..30).contains(&counts["eth_call"]), "{counts:?}");
}

#[tokio::test]
async fn what_is_paid_becomes_final_on_a_node_that_has_forgotten_the_states_of_its_blocks() {
    let fixture = FacilitatorFixture::seeing().await;
    let (begun, other) = (fixture.ready(NETWORK).await, fixture.ready(NETWORK).await);
    let moved = fixture.settle(&begun).await.unwrap();
    let elsewhere = fixture.settle(&other).await.unwrap();
    let forgotten = NodeFault::Error { code: -32000, message: "missing trie node".to_owned() };
    fixture
        .chain(NETWORK)
        .add_fault(ChainRule { times: None, ..ChainRule::once(forgotten, "eth_call") });
    let reported = async |hash: &str| fixture.remote.trace(begun.due(), Some(hash)).await;
    assert_eq!(finality(reported(&moved.transaction).await), Finality::Final);
    // What is said to have moved it proves nothing by itself.
    for hash in [elsewhere.transaction.as_str(), &format!("0x{}", "1".repeat(64)), "", "0x"] {
        assert!(matches!(reported(hash).await, Err(Failure::Lost(_))), "{hash}");
    }
    fixture.chain(NETWORK).clear_faults();
    assert_eq!(finality(fixture.remote.trace(begun.due(), Some("0x")).await), Finality::Final);
    let found = fixture.remote.trace(begun.due(), Some(&elsewhere.transaction)).await;
    let Ok(TransferStatus::Moved(found)) = found else { panic!("{found:?}") };
    assert_eq!(found.transaction, moved.transaction);
}

#[tokio::test]
async fn without_a_note_of_the_block_before_it_a_use_is_found_all_the_same() {
    let fixture = FacilitatorFixture::seeing().await;
    let unused = lost(&fixture, FacilitatorFault::CutBefore).await;
    fixture.chain(NETWORK).mine(40);
    let used = lost(&fixture, FacilitatorFault::CutAfter).await;
    let trace = async |begun: &Begun| {
        let empty = Preparation::default();
        let due = Permit2Payment {
            authorization: &begun.authorization,
            charge: CHARGE,
            preparation: &empty,
        };
        fixture.remote.trace(due, None).await
    };
    for blocks in [0, 1, 20, 300] {
        fixture.chain(NETWORK).mine(blocks);
        assert_eq!(finality(trace(&used).await), Finality::Final, "{blocks}");
    }
    assert_eq!(trace(&unused).await, Ok(TransferStatus::Open));
    fixture.pass(NETWORK, LIFE_SECONDS + 1);
    assert_eq!(trace(&unused).await, Ok(TransferStatus::Void));
}

#[tokio::test]
async fn a_node_in_trouble_proves_nothing_and_begins_nothing() {
    let fixture = FacilitatorFixture::seeing().await;
    let begun = lost(&fixture, FacilitatorFault::CutAfter).await;
    let authorization = fixture.authorization(NETWORK, &fixture.payer());
    for fault in [
        NodeFault::Reset,
        NodeFault::Unavailable,
        NodeFault::Garbage,
        NodeFault::RateLimited { seconds: 1 },
        NodeFault::Error { code: -32000, message: "no".to_owned() },
    ] {
        fixture.chain(NETWORK).add_fault(ChainRule::always(fault.clone()));
        let traced = fixture.trace(&begun).await;
        assert!(matches!(traced, Err(Failure::Lost(_))), "{fault:?}: {traced:?}");
        let prepared = fixture.remote.prepare(&authorization, CHARGE, None).await;
        assert!(matches!(prepared, Err(Rejection::Unavailable)), "{fault:?}");
        fixture.chain(NETWORK).clear_faults();
    }
    // One question out of many unanswered is enough.
    for method in [
        "eth_getBlockByNumber",
        "eth_call",
        "eth_getLogs",
        "eth_getTransactionReceipt",
        "eth_getTransactionByHash",
    ] {
        fixture.chain(NETWORK).add_fault(ChainRule::once(NodeFault::Unavailable, method));
        let traced = fixture.trace(&begun).await;
        assert!(matches!(traced, Err(Failure::Lost(_))), "{method}: {traced:?}");
    }
    assert_eq!(finality(fixture.trace(&begun).await), Finality::Final);
}

#[tokio::test]
async fn a_node_that_has_not_seen_the_block_finds_nothing_and_concludes_nothing() {
    let fixture = FacilitatorFixture::seeing().await;
    let begun = lost(&fixture, FacilitatorFault::CutAfter).await;
    let behind = ChainRule::always(NodeFault::Stale { blocks: 1 });
    fixture.chain(NETWORK).add_fault(behind);
    assert_eq!(fixture.trace(&begun).await, Ok(TransferStatus::Open));
    fixture.chain(NETWORK).clear_faults();
    assert_eq!(finality(fixture.trace(&begun).await), Finality::Final);
    assert_eq!(fixture.clock.uptime(), 0);
}

/// A range of blocks without an event is what such a node would say as well.
#[tokio::test]
async fn a_payment_that_a_node_does_not_show_is_never_void() {
    let fixture = FacilitatorFixture::seeing().await;
    let chain = fixture.chain(NETWORK);
    let begun = lost(&fixture, FacilitatorFault::CutAfter).await;
    // Burned as well: the one event that could be taken for the whole story.
    fixture.burn(&begun);
    let stale = || NodeFault::Stale { blocks: 9 };
    for over in [false, true] {
        for fault in [stale(), NodeFault::Silent] {
            for (skip, times) in [(0, Some(1)), (0, None), (1, None)] {
                chain.add_fault(ChainRule {
                    skip,
                    times,
                    ..ChainRule::once(fault.clone(), "eth_getLogs")
                });
                let traced = fixture.trace(&begun).await;
                assert_ne!(traced, Ok(TransferStatus::Void), "{over} {fault:?} {skip} {times:?}");
                chain.clear_faults();
            }
        }
        for method in ["eth_getBlockByNumber", "eth_call", "eth_getTransactionReceipt"] {
            for skip in 0..6 {
                chain.add_fault(ChainRule { skip, ..ChainRule::once(stale(), method) });
                let traced = fixture.trace(&begun).await;
                assert_ne!(traced, Ok(TransferStatus::Void), "{over} {method} {skip}");
                chain.clear_faults();
            }
        }
        assert_eq!(finality(fixture.trace(&begun).await), Finality::Final);
        fixture.pass(NETWORK, LIFE_SECONDS + 1);
        chain.mine(8);
    }
}

#[tokio::test]
async fn a_burned_nonce_that_a_node_does_not_show_is_open_and_then_for_a_person() {
    let fixture = FacilitatorFixture::seeing().await;
    let begun = lost(&fixture, FacilitatorFault::CutBefore).await;
    fixture.burn(&begun);
    let silent = ChainRule { times: None, ..ChainRule::once(NodeFault::Silent, "eth_getLogs") };
    fixture.chain(NETWORK).add_fault(silent);
    assert_eq!(fixture.trace(&begun).await, Ok(TransferStatus::Open));
    fixture.pass(NETWORK, LIFE_SECONDS + 1);
    let Err(Failure::Lost(words)) = fixture.trace(&begun).await else { panic!("a person decides") };
    assert!(words.contains("look at the chain"), "{words}");
    fixture.chain(NETWORK).clear_faults();
    assert_eq!(fixture.trace(&begun).await, Ok(TransferStatus::Void));
}

#[tokio::test]
async fn a_burning_that_a_reorganisation_takes_back_leaves_the_authorization_to_be_paid() {
    let fixture = FacilitatorFixture::seeing().await;
    let chain = fixture.chain(NETWORK);
    chain.set_depths(TagDepths { safe: 0, finalized: 4 });
    let begun = lost(&fixture, FacilitatorFault::CutBefore).await;
    fixture.burn(&begun);
    chain.mine(3);
    assert_eq!(fixture.trace(&begun).await, Ok(TransferStatus::Open));
    chain.reorganise(4, ReorgedTransactions::Dropped);
    assert_eq!(fixture.trace(&begun).await, Ok(TransferStatus::Open));
    fixture.settle(&begun).await.unwrap();
    chain.mine(4);
    assert_eq!(finality(fixture.trace(&begun).await), Finality::Final);
    assert_eq!(fixture.paid(NETWORK), 2_117_500);
}
