//! Transactions that wait for a block, and the rules for getting in.

use std::collections::BTreeMap;
use std::sync::Arc;

use alloy_primitives::{Address, B256, U256};

use super::transaction::Transaction;

/// How many transactions may wait.
const ROOM: usize = 4_096;

/// What the pool must know about a sender.
pub(super) struct Standing {
    pub(super) nonce: u64,
    pub(super) balance: U256,
}

#[derive(Default)]
pub(super) struct Pool {
    waiting: BTreeMap<(Address, u64), (u64, Arc<Transaction>)>,
    arrivals: u64,
}

impl Pool {
    /// Takes a transaction in, or says why not, in the words that nodes use and
    /// that wallets look for.
    pub(super) fn add(
        &mut self,
        transaction: Arc<Transaction>,
        standing: &Standing,
    ) -> Result<(), String> {
        let key = (transaction.from, transaction.nonce);
        let before = self.waiting.get(&key).map(|(_, before)| before);
        if before.is_some_and(|before| before.hash == transaction.hash) {
            return Err("already known".to_owned());
        }
        if transaction.nonce < standing.nonce {
            let (next, given) = (standing.nonce, transaction.nonce);
            return Err(format!("nonce too low: next nonce {next}, tx nonce {given}"));
        }
        if transaction.worst_cost() > standing.balance {
            let (have, want) = (standing.balance, transaction.worst_cost());
            return Err(format!(
                "insufficient funds for gas * price + value: have {have} want {want}"
            ));
        }
        if before.is_some_and(|before| !outbids(&transaction, before)) {
            return Err("replacement transaction underpriced".to_owned());
        }
        if before.is_none() && self.waiting.len() >= ROOM {
            return Err("txpool is full".to_owned());
        }
        self.put_back(transaction);
        Ok(())
    }

    /// Without questions: it has been in a block already.
    pub(super) fn put_back(&mut self, transaction: Arc<Transaction>) {
        self.arrivals += 1;
        let key = (transaction.from, transaction.nonce);
        self.waiting.insert(key, (self.arrivals, transaction));
    }

    /// The transaction that came first among those that can go into a block now.
    pub(super) fn next(
        &self,
        base_fee: U256,
        nonce: impl Fn(Address) -> u64,
    ) -> Option<Arc<Transaction>> {
        let ready = self.waiting.values().filter(|(_, transaction)| {
            transaction.max_fee >= base_fee && transaction.nonce == nonce(transaction.from)
        });
        ready.min_by_key(|(arrival, _)| *arrival).map(|(_, transaction)| Arc::clone(transaction))
    }

    pub(super) fn remove(&mut self, transaction: &Transaction) {
        self.waiting.remove(&(transaction.from, transaction.nonce));
    }

    /// Forgets what can never be mined any more.
    pub(super) fn forget_below(&mut self, sender: Address, nonce: u64) {
        self.waiting.retain(|(from, given), _| *from != sender || *given >= nonce);
    }

    pub(super) fn find(&self, hash: B256) -> Option<&Arc<Transaction>> {
        self.waiting.values().map(|(_, found)| found).find(|found| found.hash == hash)
    }

    /// The nonce after the unbroken row that waits behind `nonce`.
    pub(super) fn nonce_after(&self, sender: Address, mut nonce: u64) -> u64 {
        while self.waiting.contains_key(&(sender, nonce)) {
            nonce += 1;
        }
        nonce
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }
}

/// A replacement must pay a tenth more, in both fees.
fn outbids(new: &Transaction, old: &Transaction) -> bool {
    let more = |new: U256, old: U256| {
        new.saturating_mul(U256::from(100)) >= old.saturating_mul(U256::from(110)) && new > old
    };
    more(new.max_fee, old.max_fee) && more(new.priority_fee, old.priority_fee)
}
