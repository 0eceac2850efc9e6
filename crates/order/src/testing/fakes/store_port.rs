//! The store port of the fake world: the fake store behind faults.

use async_trait::async_trait;

use super::fault_schedule::{QUERY_FAULTS, SimulatedFault, WRITE_FAULTS};
use super::world::FakeWorld;
use crate::lifecycle::event::{Actor, Event};
use crate::lifecycle::{Offered, Order, Stored};
use crate::model::ids::{OperationKey, OrderId, Timestamp, WorkerId};
use crate::model::payment::PaymentKey;
use crate::operator::filter::OrderFilter;
use crate::operator::page::OrderPage;
use crate::ports::{NumberedEvent, OpenOrders, StateCount, Store, StoreError, Tidied, TidyLimits};

/// The fake store behind an unreliable connection.
impl FakeWorld {
    /// A read has no delay on the way back, so that the response that follows
    /// from it can be compared with the current state.
    async fn read<T>(&self, read: impl Future<Output = T>) -> Result<T, StoreError> {
        self.time_source.network_delay().await;
        if self.next_fault(QUERY_FAULTS) != SimulatedFault::None {
            return Err(StoreError::Busy);
        }
        Ok(read.await)
    }

    async fn write<T>(
        &self,
        fault: SimulatedFault,
        write: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        match fault {
            SimulatedFault::None => write.await,
            SimulatedFault::LostAfter => write.await.and(Err(StoreError::Busy)),
            SimulatedFault::CrashBefore => self.crash().await,
            SimulatedFault::CrashAfter => {
                let _ = write.await;
                self.crash().await
            }
            SimulatedFault::Refused | SimulatedFault::LostBefore | SimulatedFault::Late => {
                Err(StoreError::Busy)
            }
        }
    }
}

#[async_trait]
impl Store for FakeWorld {
    async fn newest(&self, key: &OperationKey) -> Result<Option<Stored>, StoreError> {
        self.read(self.store.newest(key)).await?
    }

    async fn find(&self, id: OrderId) -> Result<Option<Stored>, StoreError> {
        self.read(Store::find(&self.store, id)).await?
    }

    async fn offer(&self, fresh: Order<Offered>) -> Result<Stored, StoreError> {
        self.read(self.store.offer(fresh)).await?
    }

    async fn bound(&self, keys: &[PaymentKey]) -> Result<Vec<OrderId>, StoreError> {
        self.read(self.store.bound(keys)).await?
    }

    async fn record(&self, next: &Stored, by: &Actor) -> Result<u64, StoreError> {
        self.time_source.network_delay().await;
        let fault = self.next_fault(WRITE_FAULTS);
        if fault != SimulatedFault::None {
            self.failed_writes.lock().unwrap().push((next.headline(), fault));
        }
        self.write(fault, self.store.record(next, by)).await
    }

    async fn claim(
        &self,
        worker: WorkerId,
        now: Timestamp,
        until: Timestamp,
        most: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        if self.next_fault(QUERY_FAULTS) != SimulatedFault::None {
            return Err(StoreError::Busy);
        }
        self.store.claim(worker, now, until, most).await
    }

    async fn hasten_refused(&self, now: Timestamp) -> Result<(), StoreError> {
        self.store.hasten_refused(now).await
    }

    async fn tidy(&self, now: Timestamp, limits: TidyLimits) -> Result<Tidied, StoreError> {
        self.store.tidy(now, limits).await
    }

    async fn events(&self, id: OrderId) -> Result<Vec<Event>, StoreError> {
        self.store.events(id).await
    }

    async fn list(&self, filter: &OrderFilter, most: usize) -> Result<OrderPage, StoreError> {
        self.store.list(filter, most).await
    }

    async fn events_after(
        &self,
        number: u64,
        most: usize,
    ) -> Result<Vec<NumberedEvent>, StoreError> {
        self.store.events_after(number, most).await
    }

    async fn count_in_play(&self) -> Result<Vec<StateCount>, StoreError> {
        self.store.count_in_play().await
    }

    async fn open_orders(&self) -> Result<Vec<OpenOrders>, StoreError> {
        self.store.open_orders().await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        Ok(())
    }
}
