//! Which account a name gives for which network.

use alloy_primitives::{Address, keccak256};
use alloy_sol_types::SolError;
use order::model::chain::{EvmAddress, Network};
use order::model::evidence::{Age, Found, Hash, Source};
use order::model::ids::Timestamp;
use order::ports::NameService;

use crate::chain::{
    Chain, Entry, HttpError, Manner, RESOLVER, ResolverNotFound, UnsupportedResolverProfile,
};
use crate::fixture::{
    DEFAULT_COIN, EnsFixture, MAINNET_COIN, START_TIME, entry, everywhere, full, payee, settings,
    with_plain_accounts,
};

use Network::{Arbitrum, Base, Polygon};

#[tokio::test]
async fn a_plain_name_comes_with_its_evidence() {
    let chain = Chain::start().await;
    chain.set(&full("alice"), everywhere(0xa1));
    let fixture = EnsFixture::new(settings(&chain, None, &[]));
    let found = fixture.ask("alice").await.unwrap().unwrap();
    assert_eq!(payee(&found, Base), Some(EvmAddress::from_bytes([0xa1; 20])));
    let evidence = found.evidence;
    assert_eq!(evidence.ens_name, "alice.cards.example.eth");
    let node = ["eth", "example", "cards", "alice"]
        .iter()
        .fold([0; 32], |above, label| keccak256([above, keccak256(label.as_bytes()).0].concat()).0);
    assert_eq!(evidence.node, Hash(node));
    assert_eq!((evidence.chain_id, evidence.block.number), (1, 1_000));
    assert_eq!(evidence.block.timestamp, Timestamp(1_790_012_000));
    assert_eq!(evidence.resolver, EvmAddress::from_bytes(RESOLVER));
    assert_eq!((evidence.found, &evidence.gateway), (Found::Exactly, &None));
    assert_eq!((evidence.sources_agreeing, evidence.age), (1, Age::Fresh));
    assert_eq!(evidence.resolved_at, Timestamp(START_TIME));
    assert_eq!(evidence.valid_until, Timestamp(START_TIME + 60));
    // The block is asked for by its tag once; everything is read at its number.
    assert_eq!(chain.blocks_asked_about("eth_getBlockByNumber"), ["safe"]);
    assert!(chain.blocks_asked_about("eth_call").iter().all(|block| block == "0x3e8"));
}

#[tokio::test]
async fn each_network_has_its_own_account_and_the_default_speaks_for_the_rest() {
    let chain = Chain::start().await;
    chain.set(&full("alice"), entry(&[(Base.coin_type(), 1), (DEFAULT_COIN, 9)]));
    chain.set(&full("bob"), entry(&[(Polygon.coin_type(), 2), (Arbitrum.coin_type(), 3)]));
    let fixture = EnsFixture::new(settings(&chain, None, &[]));
    let alice =
        [(Base, 1, Source::Chain), (Polygon, 9, Source::Default), (Arbitrum, 9, Source::Default)];
    assert_eq!(fixture.records("alice").await, alice);
    let bob = [(Polygon, 2, Source::Chain), (Arbitrum, 3, Source::Chain)];
    assert_eq!(fixture.records("bob").await, bob);
}

#[tokio::test]
async fn the_mainnet_account_is_taken_only_if_allowed_and_plain_on_both_chains() {
    let chain = Chain::start().await;
    let [base, polygon] = [Chain::start().await, Chain::start().await];
    base.rewrite(|script| script.chain_id = Base.chain_id());
    polygon.rewrite(|script| script.chain_id = Polygon.chain_id());
    // A contract on Polygon, and no node of Arbitrum to ask.
    let account = Address::from([7; 20]);
    polygon.rewrite(|script| drop(script.code.insert(account, vec![0xfe])));
    chain.set(&full("alice"), entry(&[(MAINNET_COIN, 7)]));

    let strict = EnsFixture::new(settings(&chain, None, &[]));
    assert_eq!(strict.ask("alice").await, Ok(None));
    let elsewhere = [(Base, &base), (Polygon, &polygon)];
    let fixture = EnsFixture::new(with_plain_accounts(&chain, &elsewhere));
    assert_eq!(fixture.records("alice").await, [(Base, 7, Source::MainnetEoa)]);

    chain.rewrite(|script| drop(script.code.insert(account, vec![0xfe])));
    let fixture = EnsFixture::new(with_plain_accounts(&chain, &elsewhere));
    assert_eq!(fixture.ask("alice").await, Ok(None));
}

#[tokio::test]
async fn no_resolver_and_no_entry_are_no_seller() {
    let chain = Chain::start().await;
    chain.set(&full("empty"), Entry::default());
    let fixture = EnsFixture::new(settings(&chain, None, &[]));
    assert_eq!(fixture.ask("nobody").await, Ok(None));
    assert_eq!(fixture.ask("empty").await, Ok(None));
}

#[tokio::test]
async fn the_chains_own_no_is_an_answer_and_any_other_is_a_failure() {
    let chain = Chain::start().await;
    let reverting = |bytes| Entry { manner: Manner::Reverts(bytes), ..Entry::default() };
    let fixture = EnsFixture::new(settings(&chain, None, &[]));
    let missing = ResolverNotFound { name: Vec::new().into() }.abi_encode();
    let unsupported = UnsupportedResolverProfile { selector: [1, 2, 3, 4].into() }.abi_encode();
    for (name, bytes) in [("missing", missing), ("unsupported", unsupported)] {
        chain.set(&full(name), reverting(bytes));
        assert_eq!(fixture.ask(name).await, Ok(None), "{name}");
    }
    let gateway = HttpError { status: 502, message: "gone".to_owned() }.abi_encode();
    for (name, bytes) in [("gateway", gateway), ("bare", Vec::new()), ("odd", vec![9; 36])] {
        chain.set(&full(name), reverting(bytes));
        assert!(fixture.ask(name).await.is_err(), "{name}");
    }
}

#[tokio::test]
async fn an_account_that_must_not_be_paid_is_not_offered_and_has_no_stand_in() {
    let chain = Chain::start().await;
    let mut alice = entry(&[(Polygon.coin_type(), 2), (DEFAULT_COIN, 9)]);
    alice.records.insert(Base.coin_type(), vec![0; 20]);
    alice.records.insert(Arbitrum.coin_type(), Arbitrum.usdc().bytes().to_vec());
    chain.set(&full("alice"), alice);
    let fixture = EnsFixture::new(settings(&chain, None, &[]));
    assert_eq!(fixture.records("alice").await, [(Polygon, 2, Source::Chain)]);
}

#[tokio::test]
async fn a_name_that_only_looks_right_is_refused_before_anybody_is_asked() {
    let chain = Chain::start().await;
    let fixture = EnsFixture::new(settings(&chain, None, &[]));
    for text in ["аlice", "al\u{200d}ice", "ａlice", "alice.other.eth", "@@alice", ""] {
        assert!(fixture.ens.read(text).is_err(), "{text}");
    }
    for text in ["alice", "@alice", "ALICE", "alice.cards.example.eth"] {
        assert_eq!(fixture.ens.read(text).unwrap().as_str(), "alice", "{text}");
    }
    assert_eq!(chain.questions("eth_call"), 0);
}
