//! The examination of one order: a write that changes nothing for a reader keeps `updated_at`.

use crate::lifecycle::event::Actor;
use crate::lifecycle::{Order, Setback, Stored, Submitting};
use crate::refusal::Refusal;
use crate::status::View;
use crate::writer::OrderWriter;

/// One order that is being examined.
pub(crate) struct Examination<'a> {
    pub(super) writer: &'a OrderWriter,
    /// What readers are told of the order, as far as it is written.
    shown: View,
}

impl<'a> Examination<'a> {
    pub(crate) fn of(writer: &'a OrderWriter, order: &Stored) -> Self {
        Self { writer, shown: View::of(order) }
    }

    /// Writes the order's next state. If readers are told the same as before, `updated_at`
    /// stays.
    pub(super) async fn record<S>(
        &mut self,
        order: Order<S>,
        by: &Actor,
    ) -> Result<Order<S>, Refusal>
    where
        S: Clone,
        Stored: From<Order<S>>,
    {
        let next = View::of(&Stored::from(order.clone()));
        let order = match self.shown.updated_at {
            Some(updated_at) if self.shown.tells_the_same_as(&next) => {
                Order { updated_at, ..order }
            }
            Some(_) | None => order,
        };
        let written = self.writer.record(order, by).await?;
        self.shown = View::of(&Stored::from(written.clone()));
        Ok(written)
    }

    /// Writes that a card is still owed, or still in doubt.
    pub(super) async fn fail(
        &mut self,
        order: Order<Submitting>,
        setback: Setback,
    ) -> Result<(), Refusal> {
        let order = order.failed(setback, self.writer.clock.now());
        self.record(order, &Actor::Reconciler).await.map(drop)
    }
}
