//! The store port of the fake world: the fake store behind faults.

use std::sync::atomic::Ordering;

use async_trait::async_trait;

use super::coverage::Incident;
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
    async fn read<T>(
        &self,
        call: &'static str,
        order: Option<OrderId>,
        read: impl Future<Output = T>,
    ) -> Result<T, StoreError> {
        self.time_source.network_delay().await;
        if self.next_fault(call, order, QUERY_FAULTS) != SimulatedFault::None {
            return Err(StoreError::Lost);
        }
        self.count(call, "answered", order);
        Ok(read.await)
    }

    /// A second process claims the order before the first one has begun: the order as the second
    /// one has it, and as the first one has it, whose writes are too late.
    fn claimed_again(&self, first: Stored) -> [Stored; 2] {
        let mut second = first.clone();
        second.set_version(self.store.advance(first.id()));
        [second, first]
    }

    async fn write<T>(
        &self,
        fault: SimulatedFault,
        write: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        match fault {
            SimulatedFault::None => write.await,
            SimulatedFault::LostAfter => write.await.and(Err(StoreError::Lost)),
            SimulatedFault::CrashBefore => self.crash().await,
            SimulatedFault::CrashAfter => {
                let _ = write.await;
                self.crash().await
            }
            SimulatedFault::Refused | SimulatedFault::LostBefore | SimulatedFault::Late => {
                Err(StoreError::Lost)
            }
        }
    }
}

#[async_trait]
impl Store for FakeWorld {
    async fn newest(&self, key: &OperationKey) -> Result<Option<Stored>, StoreError> {
        self.read("newest", self.store.newest_id(key), self.store.newest(key)).await?
    }

    async fn find(&self, id: OrderId) -> Result<Option<Stored>, StoreError> {
        self.read("find", Some(id), Store::find(&self.store, id)).await?
    }

    async fn offer(&self, fresh: Order<Offered>) -> Result<Stored, StoreError> {
        self.read("offer", Some(fresh.id), self.store.offer(fresh)).await?
    }

    async fn bound(&self, keys: &[PaymentKey]) -> Result<Vec<OrderId>, StoreError> {
        let order = keys.iter().find_map(|key| self.store.bound_to(*key));
        let order = order.or_else(|| self.requested_order());
        self.read("bound", order, self.store.bound(keys)).await?
    }

    async fn record(&self, next: &Stored, by: &Actor) -> Result<u64, StoreError> {
        self.time_source.network_delay().await;
        let (id, before) = (next.id(), self.store.headline(next.id()));
        let fault = self.next_fault("record", Some(id), WRITE_FAULTS);
        if fault != SimulatedFault::None {
            self.failed_writes.lock().unwrap().push((next.headline(), fault));
        }
        let recorded = self.write(fault, self.store.record(next, by)).await;
        let outcome = match (fault, &recorded) {
            (SimulatedFault::None, Ok(_)) => "written",
            (SimulatedFault::None, Err(StoreError::Moved)) => "moved",
            (SimulatedFault::None, Err(StoreError::PaymentBound)) => "payment bound",
            _ => return recorded,
        };
        let incident = Incident { call: "record", outcome, state: before };
        self.incidents.lock().unwrap().add(incident, 1);
        recorded
    }

    async fn claim(
        &self,
        worker: WorkerId,
        now: Timestamp,
        until: Timestamp,
        most: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        if self.faults.lock().unwrap().choose(QUERY_FAULTS) != SimulatedFault::None {
            self.count_for("claim", "lost before", |order| order.attention().is_due(now));
            return Err(StoreError::Lost);
        }
        let claimed = self.store.claim(worker, now, until, most).await?;
        for order in &claimed {
            self.count("claim", "claimed", Some(order.id()));
        }
        if self.claims_twice.load(Ordering::Relaxed) {
            return Ok(claimed.into_iter().flat_map(|order| self.claimed_again(order)).collect());
        }
        Ok(claimed)
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
