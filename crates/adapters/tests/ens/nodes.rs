//! Lookups with one node or two.

use order::model::chain::Network;
use order::ports::Failure;
use serde_json::json;

use crate::chain::Chain;
use crate::fixture::{EnsFixture, everywhere, full, settings};

#[tokio::test]
async fn two_nodes_that_agree_are_counted() {
    let [one, other] = [Chain::start().await, Chain::start().await];
    // One is some blocks behind, and both are read where it stands.
    other.rewrite(|script| script.head = 990);
    for chain in [&one, &other] {
        chain.set(&full("alice"), everywhere(1));
    }
    let fixture = EnsFixture::new(settings(&one, Some(&other), &[]));
    let found = fixture.ask("alice").await.unwrap().unwrap();
    assert_eq!((found.evidence.sources_agreeing, found.evidence.block.number), (2, 990));
    assert_eq!(one.blocks_asked_about("eth_getBlockByNumber"), ["safe", "0x3de"]);
}

#[tokio::test]
async fn two_nodes_that_disagree_are_a_failure_whatever_they_disagree_about() {
    let [one, other] = [Chain::start().await, Chain::start().await];
    one.set(&full("account"), everywhere(1));
    other.set(&full("account"), everywhere(2));
    one.set(&full("there"), everywhere(1));
    let fixture = EnsFixture::new(settings(&one, Some(&other), &[]));
    let disagree = Err(Failure::Lost("the nodes disagree".into()));
    assert_eq!(fixture.ask("account").await, disagree);
    assert_eq!(fixture.ask("there").await, disagree);
    assert_eq!(fixture.ask("nobody").await, Ok(None));

    let mut wildcard = everywhere(1);
    wildcard.offset = 6;
    other.set(&full("there"), wildcard);
    assert_eq!(fixture.ask("there").await, disagree);
    other.set(&full("there"), everywhere(1));
    assert!(fixture.ask("there").await.is_ok());
    other.rewrite(|script| script.salt = 1);
    other.set(&full("history"), everywhere(1));
    one.set(&full("history"), everywhere(1));
    assert_eq!(fixture.ask("history").await, disagree);
}

#[tokio::test]
async fn a_node_of_another_chain_is_not_believed() {
    let chain = Chain::start().await;
    chain.rewrite(|script| script.chain_id = 8453);
    chain.set(&full("alice"), everywhere(1));
    let fixture = EnsFixture::new(settings(&chain, None, &[]));
    let failure = Err(Failure::Lost("node: a node of chain 8453".into()));
    assert_eq!(fixture.ask("alice").await, failure);
    assert_eq!(chain.questions("eth_call"), 0);
    // It is asked again until it is the right one, and then no more.
    chain.rewrite(|script| script.chain_id = 1);
    fixture.ask("alice").await.unwrap().unwrap();
    fixture.ask("bob").await.unwrap();
    assert_eq!(chain.questions("eth_chainId"), 2);
}

#[tokio::test]
async fn a_node_that_talks_nonsense_is_a_failure() {
    let chain = Chain::start().await;
    chain.set(&full("alice"), everywhere(1));
    let fixture = EnsFixture::new(settings(&chain, None, &[]));
    fixture.ask("warm").await.unwrap();
    for nonsense in [
        json!("hello"),
        json!({}),
        json!({ "jsonrpc": "2.0", "id": 1 }),
        json!({ "jsonrpc": "2.0", "id": 2, "result": "0x" }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": "0x" }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": { "number": "-1" } }),
        json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32005, "message": "busy" } }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": "0x".repeat(200_000) }),
    ] {
        let words = nonsense.to_string();
        chain.rewrite(|script| script.broken = Some(nonsense));
        let words = words.get(..80).unwrap_or(&words);
        assert!(fixture.ask("alice").await.is_err(), "{words}");
    }
    chain.rewrite(|script| script.broken = None);
    let found = fixture.ask("alice").await.unwrap().unwrap();
    assert_eq!(found.records().len(), Network::ALL.len());
}
