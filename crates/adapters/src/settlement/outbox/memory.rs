//! An outbox in memory, shared by any number of senders: for tests and models.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use order::model::ids::Timestamp;
use order::model::payment::PaymentKey;

use super::interface::{
    Epoch, FailedSettlement, Outbox, OutboxError, OutboxRow, SenderAccount, SentTransactions,
    SettlementQueue, SettlementRequest, Withdrawal,
};
use super::notices::{MinedNotice, NoticeBoard, Notices};

/// The outbox as one process has it. Its lease ends when this is dropped.
#[derive(Default)]
pub struct MemoryOutbox {
    shared: Arc<Shared>,
    process: u64,
}

#[derive(Default)]
struct Shared {
    tables: Mutex<Tables>,
    notices: NoticeBoard,
}

#[derive(Default)]
struct Tables {
    processes: u64,
    leases: HashMap<SenderAccount, Lease>,
    rows: BTreeMap<(SenderAccount, u64), Entry>,
    queue: Vec<(SenderAccount, SettlementRequest)>,
}

#[derive(Default)]
struct Lease {
    epoch: u64,
    holder: Option<u64>,
}

struct Entry {
    row: OutboxRow,
    phase: Phase,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    Ended,
}

impl MemoryOutbox {
    /// The same outbox as another process has it.
    #[must_use]
    pub fn another_process(&self) -> Self {
        let mut tables = self.tables();
        tables.processes += 1;
        let process = tables.processes;
        drop(tables);
        Self { shared: Arc::clone(&self.shared), process }
    }

    /// Ends every lease of this process, which may go on without knowing it.
    pub fn expire(&self) {
        for lease in self.tables().leases.values_mut() {
            if lease.holder == Some(self.process) {
                lease.holder = None;
            }
        }
        self.shared.notices.queued();
    }

    /// Whether a transaction is committed, for models that check what is sent.
    #[cfg(any(test, feature = "models"))]
    pub(crate) fn has_transaction(&self, hash: alloy_primitives::B256) -> bool {
        let tables = self.tables();
        tables.rows.values().any(|entry| entry.row.hashes().contains(&hash))
    }

    /// Whether anything was ever signed for a payment.
    #[cfg(any(test, feature = "models"))]
    pub(crate) fn has_payment(&self, key: PaymentKey) -> bool {
        self.tables().rows.values().any(|entry| entry.row.key() == Some(key))
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.shared.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for MemoryOutbox {
    fn drop(&mut self) {
        self.expire();
    }
}

impl Tables {
    fn guard(&self, account: SenderAccount, epoch: Epoch) -> Result<(), OutboxError> {
        let newest = self.leases.get(&account).map(|lease| lease.epoch);
        if newest == Some(epoch.0) { Ok(()) } else { Err(OutboxError::LeaseLost) }
    }
}

#[async_trait]
impl Outbox for MemoryOutbox {
    async fn lease(&self, account: SenderAccount) -> Result<Option<Epoch>, OutboxError> {
        let mut tables = self.tables();
        let lease = tables.leases.entry(account).or_default();
        if lease.holder.is_some_and(|holder| holder != self.process) {
            return Ok(None);
        }
        lease.holder = Some(self.process);
        lease.epoch += 1;
        Ok(Some(Epoch(lease.epoch)))
    }

    async fn open_rows(&self, account: SenderAccount) -> Result<Vec<OutboxRow>, OutboxError> {
        let tables = self.tables();
        let rows = tables.rows.iter();
        let open =
            rows.filter(|((owner, _), entry)| *owner == account && entry.phase == Phase::Open);
        Ok(open.map(|(_, entry)| entry.row.clone()).collect())
    }

    async fn assign(
        &self,
        account: SenderAccount,
        epoch: Epoch,
        rows: &[OutboxRow],
        from_queue: &[PaymentKey],
    ) -> Result<(), OutboxError> {
        let mut tables = self.tables();
        tables.guard(account, epoch)?;
        let queued = |key: &PaymentKey| tables.queue.iter().any(|(_, request)| request.key == *key);
        if !from_queue.iter().all(queued) {
            return Err(OutboxError::Withdrawn);
        }
        let is_open = |row: &OutboxRow| {
            let known = tables.rows.get(&(account, row.nonce));
            known.is_some_and(|entry| entry.phase == Phase::Open)
        };
        if rows.iter().any(is_open) {
            return Err(OutboxError::Lost);
        }
        tables.queue.retain(|(_, request)| !from_queue.contains(&request.key));
        for row in rows {
            let entry = Entry { row: row.clone(), phase: Phase::Open };
            tables.rows.insert((account, row.nonce), entry);
        }
        Ok(())
    }

    async fn update(
        &self,
        account: SenderAccount,
        epoch: Epoch,
        row: &OutboxRow,
    ) -> Result<(), OutboxError> {
        let mut tables = self.tables();
        tables.guard(account, epoch)?;
        if let Some(entry) = tables.rows.get_mut(&(account, row.nonce)) {
            entry.row = row.clone();
        }
        Ok(())
    }

    async fn end(
        &self,
        account: SenderAccount,
        epoch: Epoch,
        nonces: &[u64],
    ) -> Result<(), OutboxError> {
        let mut tables = self.tables();
        tables.guard(account, epoch)?;
        for nonce in nonces {
            if let Some(entry) = tables.rows.get_mut(&(account, *nonce)) {
                entry.phase = Phase::Ended;
            }
        }
        Ok(())
    }

    async fn transactions(
        &self,
        keys: &[PaymentKey],
    ) -> Result<Vec<SentTransactions>, OutboxError> {
        let tables = self.tables();
        let rows = tables.rows.values().map(|entry| &entry.row);
        let sent = rows.filter_map(|row| {
            let key = row.key().filter(|key| keys.contains(key))?;
            Some(SentTransactions { key, nonce: row.nonce, hashes: row.hashes() })
        });
        Ok(sent.collect())
    }

    async fn failures(
        &self,
        account: SenderAccount,
        since: Timestamp,
    ) -> Result<Vec<FailedSettlement>, OutboxError> {
        let tables = self.tables();
        let rows = tables.rows.iter().filter(|((owner, _), _)| *owner == account);
        let failed = rows.filter_map(|(_, entry)| {
            let at = entry.row.reverted_at.filter(|at| *at >= since)?;
            let request = entry.row.request.as_ref()?;
            let signed = entry.row.transactions.len();
            Some(FailedSettlement { key: request.key, payer: request.payer, signed, at })
        });
        Ok(failed.collect())
    }

    fn queue(&self) -> Option<&dyn SettlementQueue> {
        Some(self)
    }
}

#[async_trait]
impl SettlementQueue for MemoryOutbox {
    async fn enqueue(
        &self,
        account: SenderAccount,
        requests: &[SettlementRequest],
    ) -> Result<Vec<SentTransactions>, OutboxError> {
        let keys: Vec<PaymentKey> = requests.iter().map(|request| request.key).collect();
        let earlier = self.transactions(&keys).await?;
        let mut tables = self.tables();
        for request in requests {
            if tables.queue.iter().all(|(_, queued)| queued.key != request.key) {
                tables.queue.push((account, request.clone()));
            }
        }
        drop(tables);
        self.shared.notices.queued();
        Ok(earlier)
    }

    async fn queued(
        &self,
        account: SenderAccount,
        most: usize,
    ) -> Result<Vec<SettlementRequest>, OutboxError> {
        let tables = self.tables();
        let queued = tables.queue.iter().filter(|(owner, _)| *owner == account);
        Ok(queued.map(|(_, request)| request.clone()).take(most).collect())
    }

    async fn waiting(&self, keys: &[PaymentKey]) -> Result<Vec<PaymentKey>, OutboxError> {
        let tables = self.tables();
        let queued = tables.queue.iter().map(|(_, request)| request.key);
        Ok(queued.filter(|key| keys.contains(key)).collect())
    }

    async fn withdraw(&self, key: PaymentKey) -> Result<Withdrawal, OutboxError> {
        let mut tables = self.tables();
        let before = tables.queue.len();
        tables.queue.retain(|(_, request)| request.key != key);
        let withdrawn = tables.queue.len() < before;
        Ok(if withdrawn { Withdrawal::Withdrawn } else { Withdrawal::NotQueued })
    }

    async fn announce(&self, _account: SenderAccount, mined: &[MinedNotice]) {
        self.shared.notices.mined(mined.into());
    }

    fn notices(&self) -> Notices {
        self.shared.notices.subscribe()
    }
}
