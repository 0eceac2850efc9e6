//! What became of a payment: traced on the chain, and settled again while it can still move.

use super::examination::Examination;
use crate::lifecycle::event::Actor;
use crate::lifecycle::{Order, Paid, Settling, Standing, Unconfirmed};
use crate::model::payment::Trace;
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use crate::tender::{Session, Unsettled};

impl Examination<'_> {
    /// Finds out what became of a payment whose settlement began, and settles it again as
    /// long as the money can still move.
    pub(crate) async fn trace_payment(
        &mut self,
        session: &dyn Session,
        order: Order<Settling>,
        by: &Actor,
    ) -> Result<Outcome, Refusal> {
        let unconfirmed = Err(Refusal::PaymentUnconfirmed(order.id));
        match session.trace(&order.state.payment, None).await {
            Ok(Trace::Moved(settlement)) => {
                self.writer.record_settlement_and_submit(order, settlement, by).await
            }
            Ok(Trace::Void) => {
                self.record(order.declined(self.writer.clock.now()), by).await?;
                unconfirmed
            }
            // mutant: unseen-is-unmoved, unseen-is-declined
            Ok(Trace::Open) => self.settle_again(session, order, by).await,
            Err(_) => {
                self.record(self.still_lost(order, by), by).await?;
                unconfirmed
            }
        }
    }

    /// A payer who repeats a request leaves the reconciler's schedule as it is. Otherwise
    /// frequent repeats would postpone the reconciler, and its alerts, for ever.
    fn still_lost(&self, order: Order<Settling>, by: &Actor) -> Order<Unconfirmed> {
        let now = self.writer.clock.now();
        match by {
            // mutant: put-off-by-asking
            Actor::Checkout => order.still_unconfirmed(now),
            Actor::Reconciler | Actor::Operator(_) => order.lost(now),
        }
    }

    /// An authorization can be spent once only, so settling again is safe. A refusal proves
    /// nothing now: the settlement that was lost earlier may have spent it.
    async fn settle_again(
        &mut self,
        session: &dyn Session,
        order: Order<Settling>,
        by: &Actor,
    ) -> Result<Outcome, Refusal> {
        let (id, payment) = (order.id, &order.state.payment);
        let ready = session.prepare(payment.charge, Some(&payment.preparation)).await;
        let order = match ready {
            Ok(ready) if ready == payment.preparation => order,
            Ok(ready) => {
                self.record(order.prepared_again(ready, self.writer.clock.now()), by).await?
            }
            Err(_) => {
                self.record(self.still_lost(order, by), by).await?;
                return Err(Refusal::PaymentUnconfirmed(id));
            }
        };
        match session.settle(&order.state.payment).await {
            Ok(settlement) => self.writer.record_settlement_and_submit(order, settlement, by).await,
            // mutant: second-refusal-believed
            Err(Unsettled::Refused(_) | Unsettled::Withdrawn(_) | Unsettled::Lost(_)) => {
                self.record(self.still_lost(order, by), by).await?;
                Err(Refusal::PaymentUnconfirmed(id))
            }
        }
    }
}

/// Where the money of a paid order is.
pub(crate) enum PaidMoney {
    /// It has moved.
    Stands(Box<Paid>),
    /// It had moved, has not now, and may move again.
    Missing,
    /// It had moved, and never will again.
    Gone,
}

/// Deletes the credential of an order that has ended, once its payment is final. The payment is
/// not sent again: a refund is due.
pub(crate) async fn confirm(session: Option<&dyn Session>, paid: &mut Paid) {
    let (Standing::Provisional, Some(session)) = (paid.standing, session) else { return };
    let told = Some(paid.settlement.transaction.as_str());
    // mutant: ended-keeps-credential
    if let Ok(Trace::Moved(settlement)) = session.trace(&paid.payment, told).await {
        paid.moved(settlement);
    }
}

/// Whether the money of a paid order is still there. None if that is unknown now.
pub(crate) async fn check_money(
    session: Option<&dyn Session>,
    mut paid: Paid,
) -> Option<PaidMoney> {
    match paid.standing {
        Standing::Final | Standing::Reversed => return Some(PaidMoney::Stands(Box::new(paid))),
        // mutant: finality-not-checked
        Standing::Provisional => {}
    }
    let session = session?;
    let told = Some(paid.settlement.transaction.as_str());
    match session.trace(&paid.payment, told).await.ok()? {
        Trace::Moved(settlement) => {
            paid.moved(settlement);
            Some(PaidMoney::Stands(Box::new(paid)))
        }
        Trace::Open => {
            // The chain was reorganised. The same transaction is sent again; the next
            // examination finds out whether it was mined.
            // begin mutant: hurried-recall
            let _ = session.settle(&paid.payment).await;
            Some(PaidMoney::Missing)
            // end mutant
        }
        Trace::Void => Some(PaidMoney::Gone),
    }
}
