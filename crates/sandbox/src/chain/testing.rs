//! Shared test helpers: a stopped clock and a chain that uses it.

use std::collections::BTreeMap;
use std::sync::Arc;

use alloy_primitives::{Address, Bytes, U256};
use async_trait::async_trait;
use evm::transaction::UnsignedTransaction;
use order::model::ids::Timestamp;
use order::ports::Clock;

use crate::chain::clock::ChainClock;
use crate::chain::ens::names::{NameRecord, NameRegistry};
use crate::chain::network::ChainId;
use crate::chain::node::state::{Changes, Slot};
use crate::chain::node::{EmulatedNode, MiningMode, TagDepths};
use crate::keys::Key;

/// When all tests take place: in November 2026.
pub(crate) const NOW: u64 = 1_794_700_000;

pub(crate) struct Stopped;

#[async_trait]
impl Clock for Stopped {
    fn now(&self) -> Timestamp {
        Timestamp(NOW)
    }

    fn uptime(&self) -> u64 {
        0
    }

    async fn wait(&self, _seconds: u64) {
        unreachable!("the chains wait for nothing");
    }
}

pub(crate) fn key(label: &str) -> Key {
    Key::derive(&[7; 32], label)
}

pub(crate) fn no_names() -> NameRegistry {
    names([])
}

pub(crate) fn names<const COUNT: usize>(entries: [(&str, NameRecord); COUNT]) -> NameRegistry {
    let entries: BTreeMap<String, NameRecord> =
        entries.into_iter().map(|(name, entry)| (name.to_owned(), entry)).collect();
    NameRegistry::new(key("gateway"), entries)
}

/// A chain without a heartbeat, so that blocks are mined only by the test.
pub(crate) fn node(chain: ChainId) -> (EmulatedNode, Arc<ChainClock>) {
    let clock = Arc::new(ChainClock::new(Arc::new(Stopped)));
    let mining = MiningMode::OnArrival { heartbeat: 0 };
    (EmulatedNode::new(chain, Arc::clone(&clock), mining, TagDepths::default()), clock)
}

pub(crate) fn put(node: &mut EmulatedNode, slot: Slot, value: u128) {
    node.place(Changes::from([(slot, U256::from(value))]));
}

/// A transaction with the nonce and the ordinary fees.
pub(crate) fn unsigned(
    chain: ChainId,
    nonce: u64,
    to: Address,
    data: impl Into<Bytes>,
) -> UnsignedTransaction {
    UnsignedTransaction {
        chain_id: chain.number(),
        nonce,
        priority_fee: 1_000_000,
        max_fee: 100_000_000,
        gas: 300_000,
        to: to.into(),
        value: 0,
        data: data.into().to_vec(),
    }
}
