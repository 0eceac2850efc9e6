//! An outbox that records what is written, and fails when the test says so.

use std::collections::VecDeque;
use std::sync::Mutex;

use adapters::settlement::outbox::{
    Epoch, FailedSettlement, MemoryOutbox, Outbox, OutboxError, OutboxRow, SenderAccount,
    SentTransactions, SettlementQueue,
};
use async_trait::async_trait;
use order::model::ids::Timestamp;
use order::model::payment::PaymentKey;
use sandbox::chain::ChainHandle;

use crate::fixture::Fixture;

/// What goes wrong with one call of `assign`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AssignFault {
    NotWritten,
    /// Written, but the sender does not hear of it.
    AnswerLost,
}

/// One call of `assign`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assigned {
    pub nonces: Vec<u64>,
    /// How many transactions the node had been sent by then.
    pub sends_before: u64,
}

pub(crate) struct WatchedOutbox {
    pub inner: MemoryOutbox,
    chain: ChainHandle,
    faults: Mutex<VecDeque<AssignFault>>,
    assigned: Mutex<Vec<Assigned>>,
    sent_too_early: Mutex<Vec<u64>>,
}

impl WatchedOutbox {
    pub(crate) fn new(fixture: &Fixture, faults: &[AssignFault]) -> Self {
        Self {
            inner: fixture.outbox.another_process(),
            chain: fixture.chain(),
            faults: Mutex::new(faults.iter().copied().collect()),
            assigned: Mutex::default(),
            sent_too_early: Mutex::default(),
        }
    }

    pub(crate) fn assigned(&self) -> Vec<Assigned> {
        self.assigned.lock().unwrap().clone()
    }

    /// The nonces of transactions that the node knew before they were in the outbox.
    pub(crate) fn sent_too_early(&self) -> Vec<u64> {
        self.sent_too_early.lock().unwrap().clone()
    }

    fn note_early(&self, row: &OutboxRow) {
        if self.chain.settled(row.newest().hash.0).is_some() {
            self.sent_too_early.lock().unwrap().push(row.nonce);
        }
    }
}

#[async_trait]
impl Outbox for WatchedOutbox {
    async fn lease(&self, account: SenderAccount) -> Result<Option<Epoch>, OutboxError> {
        self.inner.lease(account).await
    }

    async fn open_rows(&self, account: SenderAccount) -> Result<Vec<OutboxRow>, OutboxError> {
        self.inner.open_rows(account).await
    }

    async fn assign(
        &self,
        account: SenderAccount,
        epoch: Epoch,
        rows: &[OutboxRow],
        from_queue: &[PaymentKey],
    ) -> Result<(), OutboxError> {
        rows.iter().for_each(|row| self.note_early(row));
        let nonces = rows.iter().map(|row| row.nonce).collect();
        let sends = self.chain.counts().get("eth_sendRawTransaction").copied();
        let assigned = Assigned { nonces, sends_before: sends.unwrap_or_default() };
        self.assigned.lock().unwrap().push(assigned);
        let fault = self.faults.lock().unwrap().pop_front();
        match fault {
            None => self.inner.assign(account, epoch, rows, from_queue).await,
            Some(AssignFault::NotWritten) => Err(OutboxError::Lost),
            Some(AssignFault::AnswerLost) => {
                self.inner.assign(account, epoch, rows, from_queue).await?;
                Err(OutboxError::Lost)
            }
        }
    }

    async fn update(
        &self,
        account: SenderAccount,
        epoch: Epoch,
        row: &OutboxRow,
    ) -> Result<(), OutboxError> {
        if row.reverted_at.is_none() {
            self.note_early(row);
        }
        self.inner.update(account, epoch, row).await
    }

    async fn end(
        &self,
        account: SenderAccount,
        epoch: Epoch,
        nonces: &[u64],
    ) -> Result<(), OutboxError> {
        self.inner.end(account, epoch, nonces).await
    }

    async fn transactions(
        &self,
        keys: &[PaymentKey],
    ) -> Result<Vec<SentTransactions>, OutboxError> {
        self.inner.transactions(keys).await
    }

    async fn failures(
        &self,
        account: SenderAccount,
        since: Timestamp,
    ) -> Result<Vec<FailedSettlement>, OutboxError> {
        self.inner.failures(account, since).await
    }

    fn queue(&self) -> Option<&dyn SettlementQueue> {
        self.inner.queue()
    }
}
