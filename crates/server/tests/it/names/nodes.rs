//! Nodes that fail, lag behind, or disagree.

use sandbox::chain::{ChainId, NameRecord, NodeFault, NodeFaultRule, ReorgedTransactions};

use super::fixture::{NamesFixture, full_name, on_all_networks, paid_on_all_networks};

#[tokio::test]
async fn a_node_failure_is_not_cached() {
    let faults = [
        NodeFault::Reset,
        NodeFault::Unavailable,
        NodeFault::RateLimited { seconds: 1 },
        NodeFault::LoseAnswer,
        NodeFault::Garbage,
        NodeFault::Error { code: -32000, message: "out of order".to_owned() },
    ];
    let fixture = NamesFixture::new().await;
    fixture.name("alice", NameRecord::OnChain(on_all_networks(1)));
    let chain = fixture.chains.chain(ChainId::Ethereum);
    for fault in faults {
        chain.add_fault(NodeFaultRule::always(fault.clone()));
        let lookup_error = fixture.lookup_error("alice").await;
        assert!(lookup_error.starts_with("node: "), "{fault:?}: {lookup_error}");
        chain.clear_faults();
    }
    assert_eq!(fixture.payees("alice").await, paid_on_all_networks(1));
}

/// The Universal Resolver never reports an absent name by a revert without data.
#[tokio::test]
async fn a_revert_without_data_is_a_failure() {
    let fixture = NamesFixture::new().await;
    fixture.name("alice", NameRecord::OnChain(on_all_networks(1)));
    let chain = fixture.chains.chain(ChainId::Ethereum);
    chain.add_fault(NodeFaultRule {
        method: Some("eth_call".to_owned()),
        ..NodeFaultRule::always(NodeFault::Revert)
    });
    assert_eq!(fixture.lookup_error("alice").await, "the contract reverted");
}

#[tokio::test]
async fn an_unreachable_node_is_a_failure() {
    let NamesFixture { chains, ens, .. } = NamesFixture::new().await;
    chains.set_name(&full_name("alice"), NameRecord::OnChain(on_all_networks(1)));
    chains.close().await;
    assert!(super::fixture::resolve(&ens, "alice").await.is_err());
}

#[tokio::test]
async fn two_nodes_must_agree() {
    let fixture = NamesFixture::with_two_nodes().await;
    let second = fixture.second.as_ref().unwrap();
    for (seller, byte) in [("alice", 1), ("bob", 2), ("carol", 3)] {
        fixture.name(seller, NameRecord::OnChain(on_all_networks(byte)));
    }
    second.set_name(&full_name("alice"), NameRecord::OnChain(on_all_networks(1)));
    second.set_name(&full_name("bob"), NameRecord::OnChain(on_all_networks(9)));
    let found = fixture.resolve("alice").await.unwrap().unwrap();
    assert_eq!(found.evidence.sources_agreeing, 2);
    assert_eq!(fixture.lookup_error("bob").await, "the nodes disagree");
    // The name does not exist on one of them.
    assert_eq!(fixture.lookup_error("carol").await, "the nodes disagree");
    assert_eq!(fixture.resolve("unknown").await, Ok(None));
}

#[tokio::test]
async fn a_node_some_blocks_behind_agrees_and_one_on_another_fork_does_not() {
    let fixture = NamesFixture::with_two_nodes().await;
    let second = fixture.second.as_ref().unwrap();
    fixture.name("alice", NameRecord::OnChain(on_all_networks(1)));
    second.set_name(&full_name("alice"), NameRecord::OnChain(on_all_networks(1)));
    fixture.chains.chain(ChainId::Ethereum).mine(3);
    let found = fixture.resolve("alice").await.unwrap().unwrap();
    let behind = second.chain(ChainId::Ethereum);
    assert_eq!(found.evidence.block.number, behind.head().number);

    behind.mine(3);
    behind.reorganise(2, ReorgedTransactions::Dropped);
    fixture.clock.advance(1_000);
    assert_eq!(fixture.lookup_error("alice").await, "the nodes disagree");
}
