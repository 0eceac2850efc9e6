//! Nodes that fail, lag behind, or say different things.

use sandbox::chain::{ChainId, Fate, Fault, Name, Rule};

use super::town::{Town, everywhere, full, on_every_chain};

#[tokio::test]
async fn a_node_that_fails_is_a_failure_and_is_not_remembered() {
    let faults = [
        Fault::Reset,
        Fault::Unavailable,
        Fault::RateLimited { seconds: 1 },
        Fault::LoseAnswer,
        Fault::Garbage,
        Fault::Error { code: -32000, message: "out of order".to_owned() },
    ];
    let town = Town::new().await;
    town.name("alice", Name::OnChain(everywhere(1)));
    let chain = town.chains.chain(ChainId::Ethereum);
    for fault in faults {
        chain.add_fault(Rule::always(fault.clone()));
        let trouble = town.trouble("alice").await;
        assert!(trouble.starts_with("node: "), "{fault:?}: {trouble}");
        chain.clear_faults();
    }
    assert_eq!(town.paid("alice").await, on_every_chain(1));
}

/// A silent revert is no way in which the Universal Resolver says no.
#[tokio::test]
async fn a_revert_that_says_nothing_is_a_failure() {
    let town = Town::new().await;
    town.name("alice", Name::OnChain(everywhere(1)));
    let chain = town.chains.chain(ChainId::Ethereum);
    chain.add_fault(Rule { method: Some("eth_call".to_owned()), ..Rule::always(Fault::Revert) });
    assert_eq!(town.trouble("alice").await, "the contract reverted");
}

#[tokio::test]
async fn a_node_that_is_gone_is_a_failure() {
    let Town { chains, ens, .. } = Town::new().await;
    chains.set_name(&full("alice"), Name::OnChain(everywhere(1)));
    chains.close().await;
    assert!(super::town::ask(&ens, "alice").await.is_err());
}

#[tokio::test]
async fn two_nodes_that_agree_are_both_named_and_two_that_do_not_are_not_believed() {
    let town = Town::of_two_nodes().await;
    let second = town.second.as_ref().unwrap();
    for (seller, byte) in [("alice", 1), ("bob", 2), ("carol", 3)] {
        town.name(seller, Name::OnChain(everywhere(byte)));
    }
    second.set_name(&full("alice"), Name::OnChain(everywhere(1)));
    second.set_name(&full("bob"), Name::OnChain(everywhere(9)));
    let found = town.ask("alice").await.unwrap().unwrap();
    assert_eq!(found.evidence.sources_agreeing, 2);
    assert_eq!(town.trouble("bob").await, "the nodes disagree");
    // To one of them she does not exist.
    assert_eq!(town.trouble("carol").await, "the nodes disagree");
    assert_eq!(town.ask("nobody").await, Ok(None));
}

#[tokio::test]
async fn a_node_some_blocks_behind_agrees_and_one_on_another_fork_does_not() {
    let town = Town::of_two_nodes().await;
    let second = town.second.as_ref().unwrap();
    town.name("alice", Name::OnChain(everywhere(1)));
    second.set_name(&full("alice"), Name::OnChain(everywhere(1)));
    town.chains.chain(ChainId::Ethereum).mine(3);
    let found = town.ask("alice").await.unwrap().unwrap();
    let behind = second.chain(ChainId::Ethereum);
    assert_eq!(found.evidence.block.number, behind.head().number);

    behind.mine(3);
    behind.reorganise(2, Fate::Dropped);
    town.watch.forward(1_000);
    assert_eq!(town.trouble("alice").await, "the nodes disagree");
}
