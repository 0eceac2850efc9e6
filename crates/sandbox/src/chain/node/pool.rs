//! Pending transactions and the rules of admission.

use std::collections::BTreeMap;
use std::sync::Arc;

use alloy_primitives::{Address, B256, U256};

use crate::chain::transaction::Transaction;

/// Maximum number of pending transactions.
const ROOM: usize = 4_096;

/// What the pool must know about a sender.
pub(crate) struct SenderState {
    pub(crate) nonce: u64,
    pub(crate) balance: U256,
}

/// What the pool does with a transaction that it acknowledges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PoolAdmission {
    /// It goes into a block when its nonce is the next.
    #[default]
    Ready,
    /// It never goes into a block, as if its predecessor were missing.
    Stranded,
    /// It is not stored.
    Forgotten,
}

struct Entry {
    arrival: u64,
    transaction: Arc<Transaction>,
    stranded: bool,
}

#[derive(Default)]
pub(crate) struct Pool {
    waiting: BTreeMap<(Address, u64), Entry>,
    arrivals: u64,
}

impl Pool {
    /// Adds a transaction, or refuses it with the error messages that wallets expect from
    /// nodes.
    pub(crate) fn add(
        &mut self,
        transaction: Arc<Transaction>,
        sender: &SenderState,
        admission: PoolAdmission,
    ) -> Result<(), String> {
        let key = (transaction.from, transaction.nonce);
        let before = self.waiting.get(&key).map(|entry| &entry.transaction);
        if before.is_some_and(|before| before.hash == transaction.hash) {
            return Err("already known".to_owned());
        }
        if transaction.nonce < sender.nonce {
            let (next, given) = (sender.nonce, transaction.nonce);
            return Err(format!("nonce too low: next nonce {next}, tx nonce {given}"));
        }
        if transaction.worst_cost() > sender.balance {
            let (have, want) = (sender.balance, transaction.worst_cost());
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
        match admission {
            PoolAdmission::Ready => self.put_back(transaction),
            PoolAdmission::Stranded => {
                self.put_back(transaction);
                self.waiting.entry(key).and_modify(|entry| entry.stranded = true);
            }
            PoolAdmission::Forgotten => {}
        }
        Ok(())
    }

    /// Without checks: it has been in a block already.
    pub(crate) fn put_back(&mut self, transaction: Arc<Transaction>) {
        self.arrivals += 1;
        let key = (transaction.from, transaction.nonce);
        let entry = Entry { arrival: self.arrivals, transaction, stranded: false };
        self.waiting.insert(key, entry);
    }

    /// The transaction that came first among those that can go into a block now.
    pub(crate) fn next(
        &self,
        base_fee: U256,
        nonce: impl Fn(Address) -> u64,
    ) -> Option<Arc<Transaction>> {
        let ready = self.waiting.values().filter(|Entry { transaction, stranded, .. }| {
            !stranded
                && transaction.max_fee >= base_fee
                && transaction.nonce == nonce(transaction.from)
        });
        ready.min_by_key(|entry| entry.arrival).map(|entry| Arc::clone(&entry.transaction))
    }

    pub(crate) fn remove(&mut self, transaction: &Transaction) {
        self.waiting.remove(&(transaction.from, transaction.nonce));
    }

    /// Drops transactions that can no longer be mined.
    pub(crate) fn forget_below(&mut self, sender: Address, nonce: u64) {
        self.waiting.retain(|(from, given), _| *from != sender || *given >= nonce);
    }

    pub(crate) fn find(&self, hash: B256) -> Option<&Arc<Transaction>> {
        self.waiting.values().map(|entry| &entry.transaction).find(|found| found.hash == hash)
    }

    /// The nonce after the unbroken row that waits behind `nonce`; a stranded
    /// transaction breaks the row.
    pub(crate) fn nonce_after(&self, sender: Address, mut nonce: u64) -> u64 {
        while self.waiting.get(&(sender, nonce)).is_some_and(|entry| !entry.stranded) {
            nonce += 1;
        }
        nonce
    }

    /// How many transactions stand in an unbroken row behind what is mined: what
    /// nodes call pending, the others being queued.
    pub(crate) fn pending(&self, nonce: impl Fn(Address) -> u64) -> u64 {
        let mut senders: Vec<Address> = self.waiting.keys().map(|(sender, _)| *sender).collect();
        senders.dedup();
        let row = |sender: &Address| {
            let next = nonce(*sender);
            self.nonce_after(*sender, next) - next
        };
        senders.iter().map(row).sum()
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn clear(&mut self) {
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
