//! Concurrent lookups of one name cost as many calls as one lookup.

use std::collections::BTreeMap;
use std::sync::Arc;

use sandbox::chain::{ChainId, GatewayLookup, NameRecord};
use tokio::task::JoinSet;

use super::fixture::{NamesFixture, on_all_networks, resolve};

const LOOKUPS: usize = 100;

#[tokio::test]
async fn a_hundred_concurrent_lookups_are_one() {
    let fixture = NamesFixture::new().await;
    fixture.use_gateway();
    fixture.chains.set_lookup(GatewayLookup::Batched);
    fixture.name("alice", NameRecord::Offchain(on_all_networks(4)));
    let alone = counted(&fixture, 1).await;
    assert!(alone["eth_call"] >= 4, "{alone:?}");
    assert_eq!(counted(&fixture, LOOKUPS).await, alone);
}

/// The calls that the node received for so many concurrent lookups of one name.
async fn counted(fixture: &NamesFixture, count: usize) -> BTreeMap<String, u64> {
    let chain = fixture.chains.chain(ChainId::Ethereum);
    chain.clear_journal();
    let reader = Arc::new(fixture.reader(&[fixture.chains.origin()]));
    let mut lookups = JoinSet::new();
    for _ in 0..count {
        let reader = Arc::clone(&reader);
        lookups.spawn(async move { resolve(&reader, "alice").await });
    }
    let found = lookups.join_all().await;
    assert!(found.iter().all(|one| matches!(one, Ok(Some(_)))), "{found:?}");
    chain.counts()
}
