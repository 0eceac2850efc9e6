//! What the tests of the chains share: a clock that stands, and a chain under it.

use std::collections::BTreeMap;
use std::sync::Arc;

use alloy_primitives::{Address, Bytes, U256};
use async_trait::async_trait;
use order::model::ids::Timestamp;
use order::ports::Clock;

use super::hands::Hands;
use super::names::{Name, Names};
use super::network::{ChainId, noun};
use super::node::{Depths, Mining, Node};
use super::state::{Changes, Slot};
use super::transaction::Unsigned;
use crate::keys::Key;

/// When all tests take place: in November 2026.
pub(super) const NOW: u64 = 1_794_700_000;

pub(super) struct Stopped;

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

pub(super) fn key(label: &str) -> Key {
    Key::derive(&[7; 32], label)
}

pub(super) fn no_names() -> Names {
    names([])
}

pub(super) fn names<const COUNT: usize>(entries: [(&str, Name); COUNT]) -> Names {
    let entries: BTreeMap<String, Name> =
        entries.into_iter().map(|(name, entry)| (name.to_owned(), entry)).collect();
    Names::new(key("gateway"), entries)
}

/// A chain without heartbeat, so that every block is one that the test asked for.
pub(super) fn node(chain: ChainId) -> (Node, Arc<Hands>) {
    let hands = Arc::new(Hands::new(Arc::new(Stopped)));
    let mining = Mining::OnArrival { heartbeat: 0 };
    (Node::new(chain, Arc::clone(&hands), mining, Depths::default()), hands)
}

pub(super) fn put(node: &mut Node, slot: Slot, value: u128) {
    node.place(Changes::from([(slot, U256::from(value))]));
}

/// A transaction with the nonce and the ordinary fees.
pub(super) fn unsigned(
    chain: ChainId,
    nonce: u64,
    to: Address,
    data: impl Into<Bytes>,
) -> Unsigned {
    Unsigned {
        chain_id: chain.number(),
        nonce,
        priority_fee: 1_000_000,
        max_fee: 100_000_000,
        gas: 300_000,
        to: noun(to),
        value: 0,
        data: data.into().to_vec(),
    }
}
