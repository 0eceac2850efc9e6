//! The storage interface of the outbox.
//!
//! A nonce is assigned by the commit of its row. A settlement without a row was certainly
//! not sent. Rows are written by one sender per account, which names the epoch of its
//! lease with every write; a sender that has lost its lease cannot write any more.

use std::fmt;

use alloy_primitives::B256;
use async_trait::async_trait;
use order::model::chain::{EvmAddress, Network};
use order::model::ids::Timestamp;
use order::model::payment::PaymentKey;
use serde::{Deserialize, Serialize};

use super::notices::{MinedNotice, Notices};
use crate::settlement::transaction::SignedTransaction;

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

impl AccountCode {
    /// From a node's `eth_getCode`. An account with a key and code (EIP-7702) has code too.
    pub(crate) fn of(code: &[u8]) -> Self {
        if code.is_empty() { Self::None } else { Self::Present }
    }
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
    Lost,
    /// A later sender has the lease. Nothing was written.
    LeaseLost,
    /// A queued settlement was withdrawn meanwhile. Nothing was written.
    Withdrawn,
}

impl fmt::Display for OutboxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lost => "the outbox did not answer",
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

    /// Every transaction that was signed for these payments, by any account; those that ended long ago
    /// are deleted.
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
    /// Adds settlements, each once, and tells the sender. Returns every transaction that was
    /// signed for them before. A server that crashes may forget the queue: what is neither in
    /// it nor in the outbox was not sent.
    async fn enqueue(
        &self,
        account: SenderAccount,
        requests: &[SettlementRequest],
    ) -> Result<Vec<SentTransactions>, OutboxError>;

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

    /// Tells other processes what this one has read of transactions in blocks.
    async fn announce(&self, account: SenderAccount, mined: &[MinedNotice]);

    /// What this process is told from now on. A notice may be missed, so processes look by
    /// themselves now and then.
    fn notices(&self) -> Notices;
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
