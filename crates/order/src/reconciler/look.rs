//! One look at one order: a write that changes nothing for a reader leaves the time of its last change.

use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

use crate::checkout::{Desk, Fulfilment};
use crate::lifecycle::event::Actor;
use crate::lifecycle::{Order, Setback, Stored, Submitting};
use crate::refusal::Refusal;
use crate::status::View;

/// A desk that looks into one order.
pub(crate) struct Look<'a> {
    desk: &'a Desk,
    /// What is told of the order, as far as it is written.
    shown: Mutex<View>,
}

impl<'a> Look<'a> {
    pub(crate) fn at(desk: &'a Desk, order: &Stored) -> Self {
        Self { desk, shown: Mutex::new(View::of(order)) }
    }
}

impl Deref for Look<'_> {
    type Target = Desk;

    fn deref(&self) -> &Desk {
        self.desk
    }
}

impl Look<'_> {
    /// Writes the order's next state. If a reader is told the same as before, `updated_at`
    /// stays.
    pub(super) async fn record<S>(&self, order: Order<S>, by: &Actor) -> Result<Order<S>, Refusal>
    where
        S: Clone,
        Stored: From<Order<S>>,
    {
        let (shown, next) = (self.shown(), View::of(&Stored::from(order.clone())));
        let order = match shown.updated_at {
            Some(updated_at) if shown.tells_the_same_as(&next) => Order { updated_at, ..order },
            Some(_) | None => order,
        };
        let written = self.desk.record(order, by).await?;
        let next = View::of(&Stored::from(written.clone()));
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = next;
        Ok(written)
    }

    /// Writes that a card is still owed, or still in doubt.
    pub(super) async fn fail(
        &self,
        order: Order<Submitting>,
        setback: Setback,
        by: &Actor,
    ) -> Result<Fulfilment, Refusal> {
        let order = order.failed(setback, self.clock.now());
        self.record(order, by).await.map(|_| Fulfilment::NeedsReconciliation)
    }

    fn shown(&self) -> View {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
