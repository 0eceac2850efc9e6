//! The outbox: which transaction was signed for which nonce, durable before it is sent.
//!
//! A nonce is assigned by the commit of its row. A settlement without a row was certainly
//! not sent. Rows are written by one sender per account, which names the epoch of its
//! lease with every write; a sender that has lost its lease cannot write any more.

use std::fmt;

use alloy_primitives::B256;
use async_trait::async_trait;
use order::chain::{EvmAddress, Network};
use order::ids::Timestamp;
use order::payment::PaymentKey;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

mod form;
mod memory;

pub(crate) use form::{read_content, write_content};
pub use memory::MemoryOutbox;

pub use super::transaction::SignedTransaction;

/// The account whose nonces are assigned, on one network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SenderAccount {
    pub network: Network,
    pub address: EvmAddress,
}

/// Counts the leases of one account. A later sender has a higher one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Epoch(pub u64);

/// One call that is to be made in a block.
#[derive(Clone, PartialEq, Eq)]
pub struct SettlementRequest {
    /// Every transaction for one payment shares this key.
    pub key: PaymentKey,
    pub payer: EvmAddress,
    pub code: AccountCode,
    pub to: EvmAddress,
    pub data: Vec<u8>,
    pub gas: u64,
    /// The last second of the chain's own time in which a block may take it.
    pub deadline: u64,
}

/// Whether a payer's account runs code. Code can pass a simulation and fail in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AccountCode {
    None,
    Present,
}

/// One nonce, and everything that was signed for it.
#[derive(Clone, PartialEq, Eq)]
pub struct OutboxRow {
    pub nonce: u64,
    /// None for an empty transaction that only uses up its nonce.
    pub request: Option<SettlementRequest>,
    /// Oldest first, never empty.
    pub transactions: Vec<SignedTransaction>,
    pub signed_at: Timestamp,
    /// When one of them was seen to have failed in a block.
    pub reverted_at: Option<Timestamp>,
}

impl OutboxRow {
    pub fn key(&self) -> Option<PaymentKey> {
        self.request.as_ref().map(|request| request.key)
    }

    pub fn newest(&self) -> &SignedTransaction {
        self.transactions.last().expect("a row is written with its first transaction")
    }

    pub fn hashes(&self) -> Vec<B256> {
        self.transactions.iter().map(|signed| signed.hash).collect()
    }
}

/// The transactions of one payment under one nonce. At most one of them can be in a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentTransactions {
    pub key: PaymentKey,
    pub nonce: u64,
    pub hashes: Vec<B256>,
}

/// A payment that failed in a block, and what it has cost so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedSettlement {
    pub key: PaymentKey,
    pub payer: EvmAddress,
    /// How many transactions were signed for it under that nonce.
    pub signed: usize,
    pub at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutboxError {
    /// It may have been written or not.
    Busy,
    /// A later sender has the lease. Nothing was written.
    LeaseLost,
    /// A queued settlement was withdrawn meanwhile. Nothing was written.
    Withdrawn,
}

impl fmt::Display for OutboxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Busy => "the outbox did not answer",
            Self::LeaseLost => "another process has the lease",
            Self::Withdrawn => "a queued settlement was withdrawn",
        })
    }
}

impl std::error::Error for OutboxError {}

/// Where nonces are assigned.
#[async_trait]
pub trait Outbox: Send + Sync {
    /// Makes this process the sender of an account. None while another process is.
    async fn lease(&self, account: SenderAccount) -> Result<Option<Epoch>, OutboxError>;

    /// Every row that has not ended, by nonce.
    async fn open_rows(&self, account: SenderAccount) -> Result<Vec<OutboxRow>, OutboxError>;

    /// Adds rows, all or none, and takes the settlements of `from_queue` out of the queue.
    /// They are on disk when this returns. A row that has ended is replaced: the chain has
    /// forgotten its nonce, as a development node does that starts anew.
    async fn assign(
        &self,
        account: SenderAccount,
        epoch: Epoch,
        rows: &[OutboxRow],
        from_queue: &[PaymentKey],
    ) -> Result<(), OutboxError>;

    /// Writes a row again: with another transaction for its nonce, or with its failure.
    async fn update(
        &self,
        account: SenderAccount,
        epoch: Epoch,
        row: &OutboxRow,
    ) -> Result<(), OutboxError>;

    /// These nonces are used in blocks that stay. What was signed for them is dropped;
    /// hashes and failures are kept.
    async fn end(
        &self,
        account: SenderAccount,
        epoch: Epoch,
        nonces: &[u64],
    ) -> Result<(), OutboxError>;

    /// Every transaction that was ever signed for these payments, by any account.
    async fn transactions(&self, keys: &[PaymentKey])
    -> Result<Vec<SentTransactions>, OutboxError>;

    /// The payments of an account that failed in a block at or after `since`.
    async fn failures(
        &self,
        account: SenderAccount,
        since: Timestamp,
    ) -> Result<Vec<FailedSettlement>, OutboxError>;

    /// Where settlements wait for the sender of another process; none in a store that
    /// only one process uses.
    fn queue(&self) -> Option<&dyn SettlementQueue> {
        None
    }
}

/// Settlements on their way to the process that has the lease. A queued settlement has no
/// nonce, so it was certainly not sent.
#[async_trait]
pub trait SettlementQueue: Send + Sync {
    /// Adds settlements, each once, and tells the sender.
    async fn enqueue(
        &self,
        account: SenderAccount,
        requests: &[SettlementRequest],
    ) -> Result<(), OutboxError>;

    /// The oldest, at most so many. They stay in the queue until they are assigned.
    async fn queued(
        &self,
        account: SenderAccount,
        most: usize,
    ) -> Result<Vec<SettlementRequest>, OutboxError>;

    /// Which of these settlements are in the queue.
    async fn waiting(&self, keys: &[PaymentKey]) -> Result<Vec<PaymentKey>, OutboxError>;

    /// Takes a settlement out of the queue, if it is still there.
    async fn withdraw(&self, key: PaymentKey) -> Result<Withdrawal, OutboxError>;

    /// Tells other processes that transactions of their settlements are in a block.
    async fn announce(&self, account: SenderAccount);

    /// Waits until the count of such changes is not `seen`, and returns the count. Processes
    /// may miss a change, and should look by themselves now and then.
    async fn changed(&self, change: Change, seen: u64) -> u64;
}

/// What processes tell each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A settlement is in the queue.
    Queued,
    /// A transaction is in a block whose settlement another process waits for.
    Mined,
}

/// How many changes this process has been told of.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    queued: watch::Sender<u64>,
    mined: watch::Sender<u64>,
}

impl Changes {
    pub(crate) fn count(&self, change: Change) {
        self.of(change).send_modify(|count| *count += 1);
    }

    /// Waits until the count is not `seen`, and returns it.
    pub(crate) async fn after(&self, change: Change, seen: u64) -> u64 {
        let mut told = self.of(change).subscribe();
        let count = told.wait_for(|count| *count != seen).await;
        count.map_or(seen, |count| *count)
    }

    fn of(&self, change: Change) -> &watch::Sender<u64> {
        match change {
            Change::Queued => &self.queued,
            Change::Mined => &self.mined,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withdrawal {
    /// It has no nonce and never gets one from this request.
    Withdrawn,
    /// It does not wait: it was never asked for, or it has a row in the outbox.
    NotQueued,
    /// The store did not answer, or the rows are not known.
    Unknown,
}
