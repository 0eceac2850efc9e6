//! Writing an order's next state, and reading it again when the acknowledgement is lost.

use std::sync::Arc;

use crate::lifecycle::event::{Actor, Event};
use crate::lifecycle::schedule::Attention;
use crate::lifecycle::{Order, Stored, Submitting};
use crate::model::ids::WorkerId;
use crate::ports::{Clock, Provider, Store, StoreError};
use crate::refusal::Refusal;

/// Writes orders for one process. Its checkout and its reconciler share one.
#[derive(Clone)]
pub struct OrderWriter {
    pub store: Arc<dyn Store>,
    pub provider: Arc<dyn Provider>,
    pub clock: Arc<dyn Clock>,
    /// This process, as the orders that it works on name it.
    pub worker: WorkerId,
}

/// What the store has after a write that was not acknowledged.
enum Found {
    /// What we wrote.
    Written(Box<Order<Submitting>>),
    /// What was there before.
    Unwritten,
    /// Another process's write, or no answer.
    Other,
}

impl OrderWriter {
    /// Writes the order's new state and returns it under its new version. It names this
    /// process as long as an outside call is in flight.
    pub(crate) async fn write<S>(&self, order: Order<S>, by: &Actor) -> Result<Order<S>, StoreError>
    where
        S: Clone,
        Stored: From<Order<S>>,
    {
        let mut next = Stored::from(order.clone());
        let attention = self.worked_on(&next);
        next.set_attention(attention);
        // mutant: no-fencing, stale-write
        let version = self.store.record(&next, by).await?;
        Ok(Order { version, attention, ..order })
    }

    /// The same, with a refusal that a payer is told.
    pub(crate) async fn record<S>(&self, order: Order<S>, by: &Actor) -> Result<Order<S>, Refusal>
    where
        S: Clone,
        Stored: From<Order<S>>,
    {
        let id = order.id;
        self.write(order, by).await.map_err(|error| match error {
            StoreError::Moved => Refusal::InProgress(id),
            StoreError::PaymentBound => Refusal::PaymentBoundElsewhere,
            StoreError::Lost | StoreError::Corrupt => Refusal::StoreBusy,
        })
    }

    fn worked_on(&self, next: &Stored) -> Attention {
        let worker = next.is_in_flight().then_some(self.worker);
        Attention { worker, ..next.attention() }
    }

    /// Writes that the money has moved. If the acknowledgement is lost, the order is read
    /// again: what we wrote is as good as acknowledged, and what was never written is
    /// written once more. The second write may lose to the first one that arrives late.
    pub(crate) async fn record_payment(
        &self,
        order: Order<Submitting>,
        by: &Actor,
    ) -> Result<Order<Submitting>, Refusal> {
        match self.record(order.clone(), by).await {
            Err(Refusal::StoreBusy) => {}
            recorded => return recorded,
        }
        // begin mutant: unread-acknowledgement
        match self.read_again(&order, by).await {
            Found::Written(order) => return Ok(*order),
            Found::Unwritten => {}
            Found::Other => return Err(Refusal::StoreBusy),
        }
        // end mutant
        match self.record(order.clone(), by).await {
            Err(refusal) => match self.read_again(&order, by).await {
                Found::Written(order) => Ok(*order),
                Found::Unwritten | Found::Other => Err(refusal),
            },
            recorded => recorded,
        }
    }

    /// Another process may have written the same state from the same version in the same
    /// second, and mails the card: the worker tells the two apart, and the event's actor a
    /// request from the reconciler of this process.
    async fn read_again(&self, order: &Order<Submitting>, by: &Actor) -> Found {
        let version = order.version + 1;
        match self.store.find(order.id).await {
            Ok(Some(Stored::Submitting(kept))) => {
                let mut written = Order { version, ..order.clone() };
                written.attention.worker = Some(self.worker);
                let event = Event::of(&Stored::from(written.clone()), version, by);
                let last = self.store.events(order.id).await.ok().and_then(|mut all| all.pop());
                if kept == written && last == Some(event) {
                    Found::Written(Box::new(kept))
                } else {
                    Found::Other
                }
            }
            // Still `Settling` or `Unconfirmed`: the state from which the money was traced or moved.
            Ok(Some(kept)) if kept.version() == order.version => Found::Unwritten,
            Ok(_) | Err(_) => Found::Other,
        }
    }
}
