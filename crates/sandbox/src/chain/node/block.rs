//! A block with its transactions and the changes that undo it.

use std::sync::Arc;

use alloy_primitives::{B256, U256, keccak256};

use crate::chain::network::ChainId;
use crate::chain::node::state::{Changes, ContractEvent};
use crate::chain::transaction::Transaction;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MinedOutcome {
    Succeeded,
    Reverted,
}

/// A transaction in its block.
pub(crate) struct Mined {
    pub(crate) transaction: Arc<Transaction>,
    pub(crate) outcome: MinedOutcome,
    pub(crate) gas_used: u64,
    /// What one unit of gas cost.
    pub(crate) price: U256,
    pub(crate) events: Vec<ContractEvent>,
}

pub(crate) struct EmulatedBlock {
    pub(crate) number: u64,
    pub(crate) hash: B256,
    pub(crate) parent: B256,
    pub(crate) timestamp: u64,
    pub(crate) base_fee: U256,
    pub(crate) transactions: Vec<Mined>,
    pub(crate) undo: Changes,
}

impl EmulatedBlock {
    pub(crate) fn gas_used(&self) -> u64 {
        self.transactions.iter().map(|mined| mined.gas_used).sum()
    }

    /// Number of events in this block before those of this transaction.
    pub(crate) fn events_before(&self, index: usize) -> usize {
        self.transactions[..index].iter().map(|mined| mined.events.len()).sum()
    }

    /// Computes the hash of the block. `salt` makes a replacement block differ from the one
    /// that it replaces.
    pub(crate) fn seal(&mut self, chain: ChainId, salt: u64) {
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
