//! The checkout and the reconciler of one process, over the fake world.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::counting::within;
use super::world::FakeWorld;
use crate::checkout::quotes::QuoteLimiter;
use crate::checkout::single_flight::SingleFlight;
use crate::checkout::{Checkout, PendingOutcome, Request};
use crate::model::identity::Identity;
use crate::model::ids::{OperationKey, WorkerId};
use crate::model::seller::{Sellers, Username};
use crate::ports::{Provider, Store};
use crate::reconciler::Reconciler;
use crate::reconciler::alert::Alert;
use crate::refusal::Refusal;
use crate::status::StatusReader;
use crate::tender::{Tender, Tenders};
use crate::writer::OrderWriter;

/// One process. Its memory is lost when it ends.
pub struct FakeProcess {
    pub checkout: Checkout,
    pub reconciler: Reconciler,
}

impl FakeWorld {
    pub fn process(self: &Arc<Self>) -> FakeProcess {
        let number = self.processes.fetch_add(1, Ordering::Relaxed);
        FakeProcess::over(
            self,
            OrderWriter {
                store: self.clone(),
                provider: self.clone(),
                clock: self.clone(),
                worker: WorkerId::from_bytes(u128::from(number).to_be_bytes()),
            },
        )
    }
}

impl FakeProcess {
    /// A process with another writer.
    pub fn over(world: &Arc<FakeWorld>, writer: OrderWriter) -> Self {
        let writer = Arc::new(writer);
        let checkout = Checkout {
            writer: writer.clone(),
            names: world.clone(),
            identity: Identity::new([7; 32]),
            sellers: Sellers { default: Username::kept("alice".into()), enabled: Vec::new() },
            single_flight: SingleFlight::default(),
            quote_limiter: QuoteLimiter::default(),
        };
        Self { checkout, reconciler: Reconciler::new(writer) }
    }

    /// A process that uses this provider.
    pub fn with_provider(world: &Arc<FakeWorld>, provider: Arc<dyn Provider>) -> Self {
        let writer = world.process().writer().clone();
        Self::over(world, OrderWriter { provider, ..writer })
    }

    /// A process that uses this store.
    pub fn with_store(world: &Arc<FakeWorld>, store: Arc<dyn Store>) -> Self {
        let writer = world.process().writer().clone();
        Self::over(world, OrderWriter { store, ..writer })
    }

    pub fn writer(&self) -> &OrderWriter {
        &self.checkout.writer
    }

    pub fn status_reader(&self) -> StatusReader {
        let OrderWriter { store, clock, .. } = self.writer().clone();
        StatusReader { store, identity: self.checkout.identity.clone(), clock }
    }

    pub fn send<'a>(&'a self, tender: &'a dyn Tender, request: Request) -> PendingOutcome<'a> {
        let operation = self.operation_key(&request);
        let mut sent = self.checkout.send(tender, request);
        Box::pin(poll_fn(move |context| within(operation, || sent.as_mut().poll(context))))
    }

    /// The operation that a request belongs to.
    pub fn operation_key(&self, request: &Request) -> OperationKey {
        let seller = request.seller.as_ref().unwrap_or(&self.checkout.sellers.default);
        let id = request.operation_id.as_ref();
        self.checkout.identity.operation(seller, &request.card, id).key
    }

    pub async fn reconcile(
        &self,
        tenders: &Tenders,
        report: &(dyn Fn(Alert) + Sync),
    ) -> Result<usize, Refusal> {
        self.reconciler.reconcile(tenders, report).await
    }
}
