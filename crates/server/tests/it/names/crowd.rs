//! How many questions a crowd costs: as many as one caller.

use std::collections::BTreeMap;
use std::sync::Arc;

use sandbox::chain::{ChainId, Lookup, Name};
use tokio::task::JoinSet;

use super::town::{Town, ask, everywhere};

const CALLERS: usize = 100;

#[tokio::test]
async fn a_hundred_callers_are_one_lookup() {
    let town = Town::new().await;
    town.answer_by_gateway();
    town.chains.set_lookup(Lookup::Batched);
    town.name("alice", Name::Offchain(everywhere(4)));
    let alone = counted(&town, 1).await;
    assert!(alone["eth_call"] >= 4, "{alone:?}");
    assert_eq!(counted(&town, CALLERS).await, alone);
}

/// What the node was asked while so many callers asked for one name at once.
async fn counted(town: &Town, callers: usize) -> BTreeMap<String, u64> {
    let chain = town.chains.chain(ChainId::Ethereum);
    chain.clear_journal();
    let reader = Arc::new(town.reader(&[town.chains.origin()]));
    let mut crowd = JoinSet::new();
    for _ in 0..callers {
        let reader = Arc::clone(&reader);
        crowd.spawn(async move { ask(&reader, "alice").await });
    }
    let heard = crowd.join_all().await;
    assert!(heard.iter().all(|found| matches!(found, Ok(Some(_)))), "{heard:?}");
    chain.counts()
}
