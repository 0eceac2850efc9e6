//! The outbox of the model: as slow as a database, and it loses answers before and after a write.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use order::model::ids::Timestamp;
use order::model::payment::PaymentKey;
use order::testing::fakes::fault_schedule::SeededRng;
use order::testing::simulation::executor::ExecutorHandle;

use super::report::locked;
use crate::settlement::outbox::{
    Epoch, FailedSettlement, MemoryOutbox, MinedNotice, Notices, Outbox, OutboxError, OutboxRow,
    SenderAccount, SentTransactions, SettlementQueue, SettlementRequest, Withdrawal,
};

pub(super) struct ModelOutbox {
    pub(super) inner: MemoryOutbox,
    executor: Arc<ExecutorHandle>,
    rng: Mutex<SeededRng>,
    faults_end: u64,
}

impl ModelOutbox {
    pub(super) fn new(
        inner: MemoryOutbox,
        executor: Arc<ExecutorHandle>,
        rng: SeededRng,
        faults_end: u64,
    ) -> Self {
        Self { inner, executor, rng: Mutex::new(rng), faults_end }
    }

    async fn call<T>(
        &self,
        deed: impl Future<Output = Result<T, OutboxError>> + Send,
    ) -> Result<T, OutboxError> {
        let (before, after, fate) = {
            let mut rng = locked(&self.rng);
            (rng.below(5), rng.below(5), rng.below(30))
        };
        let faulty = self.executor.elapsed() < self.faults_end;
        self.executor.sleep(1 + before).await;
        if faulty && fate == 0 {
            return Err(OutboxError::Lost);
        }
        let done = deed.await;
        self.executor.sleep(1 + after).await;
        if faulty && fate == 1 { Err(OutboxError::Lost) } else { done }
    }
}

#[async_trait]
impl Outbox for ModelOutbox {
    async fn lease(&self, account: SenderAccount) -> Result<Option<Epoch>, OutboxError> {
        self.call(self.inner.lease(account)).await
    }

    async fn open_rows(&self, account: SenderAccount) -> Result<Vec<OutboxRow>, OutboxError> {
        self.call(self.inner.open_rows(account)).await
    }

    async fn assign(
        &self,
        account: SenderAccount,
        epoch: Epoch,
        rows: &[OutboxRow],
        from_queue: &[PaymentKey],
    ) -> Result<(), OutboxError> {
        self.call(self.inner.assign(account, epoch, rows, from_queue)).await
    }

    async fn update(
        &self,
        account: SenderAccount,
        epoch: Epoch,
        row: &OutboxRow,
    ) -> Result<(), OutboxError> {
        self.call(self.inner.update(account, epoch, row)).await
    }

    async fn end(
        &self,
        account: SenderAccount,
        epoch: Epoch,
        nonces: &[u64],
    ) -> Result<(), OutboxError> {
        self.call(self.inner.end(account, epoch, nonces)).await
    }

    async fn transactions(
        &self,
        keys: &[PaymentKey],
    ) -> Result<Vec<SentTransactions>, OutboxError> {
        self.call(self.inner.transactions(keys)).await
    }

    async fn failures(
        &self,
        account: SenderAccount,
        since: Timestamp,
    ) -> Result<Vec<FailedSettlement>, OutboxError> {
        self.call(self.inner.failures(account, since)).await
    }

    fn queue(&self) -> Option<&dyn SettlementQueue> {
        Some(self)
    }
}

#[async_trait]
impl SettlementQueue for ModelOutbox {
    async fn enqueue(
        &self,
        account: SenderAccount,
        requests: &[SettlementRequest],
    ) -> Result<Vec<SentTransactions>, OutboxError> {
        self.call(self.inner.enqueue(account, requests)).await
    }

    async fn queued(
        &self,
        account: SenderAccount,
        most: usize,
    ) -> Result<Vec<SettlementRequest>, OutboxError> {
        self.call(self.inner.queued(account, most)).await
    }

    async fn waiting(&self, keys: &[PaymentKey]) -> Result<Vec<PaymentKey>, OutboxError> {
        self.call(self.inner.waiting(keys)).await
    }

    async fn withdraw(&self, key: PaymentKey) -> Result<Withdrawal, OutboxError> {
        self.call(self.inner.withdraw(key)).await
    }

    /// Notices are lost, and some are too long for what was read.
    async fn announce(&self, account: SenderAccount, mined: &[MinedNotice]) {
        let mut mined = mined.to_vec();
        mined.retain_mut(|notice| {
            let fate = locked(&self.rng).below(3);
            if fate == 1 {
                notice.mined = None;
            }
            fate != 0
        });
        self.inner.announce(account, &mined).await;
    }

    fn notices(&self) -> Notices {
        self.inner.notices()
    }
}
