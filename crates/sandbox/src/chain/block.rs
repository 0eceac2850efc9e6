//! A block: what was done in it, and what undoes it.

use std::sync::Arc;

use alloy_primitives::{B256, U256, keccak256};

use super::network::ChainId;
use super::state::{Changes, Event};
use super::transaction::Transaction;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Succeeded,
    Reverted,
}

/// A transaction in its block.
pub(super) struct Mined {
    pub(super) transaction: Arc<Transaction>,
    pub(super) outcome: Outcome,
    pub(super) gas_used: u64,
    /// What one unit of gas cost.
    pub(super) price: U256,
    pub(super) events: Vec<Event>,
}

pub(super) struct Block {
    pub(super) number: u64,
    pub(super) hash: B256,
    pub(super) parent: B256,
    pub(super) timestamp: u64,
    pub(super) base_fee: U256,
    pub(super) transactions: Vec<Mined>,
    pub(super) undo: Changes,
}

impl Block {
    pub(super) fn gas_used(&self) -> u64 {
        self.transactions.iter().map(|mined| mined.gas_used).sum()
    }

    /// How many events stand in this block before those of this transaction.
    pub(super) fn events_before(&self, index: usize) -> usize {
        self.transactions[..index].iter().map(|mined| mined.events.len()).sum()
    }

    /// Names the block by everything that tells it from another. `salt` tells the
    /// replacement of a block from the block that it replaces.
    pub(super) fn seal(&mut self, chain: ChainId, salt: u64) {
        let mut sealed = Vec::new();
        for number in [chain.number(), self.number, self.timestamp, salt] {
            sealed.extend(number.to_be_bytes());
        }
        sealed.extend(self.parent);
        for mined in &self.transactions {
            sealed.extend(mined.transaction.hash);
        }
        self.hash = keccak256(sealed);
    }
}
