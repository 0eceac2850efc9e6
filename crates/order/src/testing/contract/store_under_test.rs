//! The store that a check of the contract runs against.

use std::pin::Pin;
use std::sync::Arc;

use crate::lifecycle::event::Actor;
use crate::lifecycle::{Order, Stored};
use crate::model::ids::{Timestamp, WorkerId};
use crate::ports::{Store, StoreError};

pub type StoreTask = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs all tasks concurrently to their end.
pub type RunConcurrently = fn(Vec<StoreTask>) -> StoreTask;

/// Ends the process that has the store open, and opens the store in the next one.
pub type RestartStore = Arc<dyn Fn() -> RestartFuture + Send + Sync>;

/// The store and the worker of the next process.
pub type RestartFuture = Pin<Box<dyn Future<Output = (Arc<dyn Store>, WorkerId)> + Send>>;

/// The store that a check runs against. It is empty.
#[derive(Clone)]
pub struct StoreUnderTest {
    pub store: Arc<dyn Store>,
    /// The process that has it open.
    pub worker: WorkerId,
    pub run_concurrently: RunConcurrently,
    pub restart: RestartStore,
}

impl StoreUnderTest {
    /// Writes the next state and returns the order with its new version.
    pub async fn record<S: Clone>(&self, order: Order<S>) -> Result<Order<S>, StoreError>
    where
        Stored: From<Order<S>>,
    {
        let version = self.store.record(&order.clone().into(), &Actor::Checkout).await?;
        Ok(Order { version, ..order })
    }

    /// Claims for the process that has the store open.
    pub async fn claim(
        &self,
        now: Timestamp,
        until: Timestamp,
        most: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        self.store.claim(self.worker, now, until, most).await
    }

    /// The same store, as the next process sees it.
    pub async fn restarted(&self) -> Self {
        let (store, worker) = (self.restart)().await;
        Self { store, worker, ..self.clone() }
    }

    /// Writes an order as it is.
    pub async fn insert<S: Clone>(&self, order: Order<S>) -> Order<S>
    where
        Stored: From<Order<S>>,
    {
        self.record(order).await.expect("a fresh order can be written")
    }
}
