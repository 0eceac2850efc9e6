//! The part of an order's path that requests and the reconciler share: from moved money to a submitted card.

use crate::lifecycle::event::Actor;
use crate::lifecycle::{Order, Setback, Settling, Submitting};
use crate::model::payment::Settlement;
use crate::outcome::{Fulfilment, Outcome, When};
use crate::ports::Failure;
use crate::refusal::Refusal;
use crate::writer::OrderWriter;

impl OrderWriter {
    /// The money has moved: writes that, and submits the card.
    pub(crate) async fn record_settlement_and_submit(
        &self,
        order: Order<Settling>,
        settlement: Settlement,
        by: &Actor,
    ) -> Result<Outcome, Refusal> {
        let id = order.id;
        let order = order.settled(settlement, self.clock.now());
        let order = order.submitting_to(self.provider.account());
        // If this cannot be written, the intent to settle still is, and a trace finds the
        // money.
        let recorded = self.record_payment(order, by).await;
        let order = recorded.map_err(|_| Refusal::PaymentUnconfirmed(id))?;
        let (id, settlement) = (order.id, order.state.paid.settlement.clone());
        let fulfilment = self.mail(order, by).await;
        Ok(Outcome::Paid { order: id, settlement, fulfilment, paid: When::Now })
    }

    /// Submits the card of a paid order to the provider. The caller is told that the money
    /// has moved, whatever the result; a failed write leaves `Submitting`, and the
    /// reconciler finds out what happened.
    pub(crate) async fn mail(&self, order: Order<Submitting>, by: &Actor) -> Fulfilment {
        let answer = self.provider.submit(&order).await;
        let now = self.clock.now();
        let recorded = match answer {
            Ok(mailpiece) => {
                let recorded = self.record(order.accepted(mailpiece, now), by).await;
                recorded.map(|_| Fulfilment::Submitted)
            }
            Err(Failure::Refused(_)) => self.fail(order, Setback::Refused, by).await,
            // mutant: lost-card-is-refusal
            Err(Failure::Lost(_)) => self.fail(order, Setback::Lost, by).await,
        };
        recorded.unwrap_or(Fulfilment::NeedsReconciliation)
    }

    async fn fail(
        &self,
        order: Order<Submitting>,
        setback: Setback,
        by: &Actor,
    ) -> Result<Fulfilment, Refusal> {
        let order = order.failed(setback, self.clock.now());
        self.record(order, by).await.map(|_| Fulfilment::NeedsReconciliation)
    }
}
