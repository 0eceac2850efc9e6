//! What chain and provider say about an order now.

use super::OperatorActions;
use crate::lifecycle::Stored;
use crate::lifecycle::event::Event;
use crate::model::ids::{OrderId, Timestamp};
use crate::model::mail::{Delivery, Mailpiece};
use crate::model::payment::Trace;
use crate::operator::rejection::ActionRejection;
use crate::operator::transfers::{ChainTransaction, TransactionHash};

/// Everything that is known of an order, for a dispute. It contains no personal data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderEvidence {
    pub order: Stored,
    pub events: Vec<Event>,
    pub collected_at: Timestamp,
    /// What became of the authorization, as the chain has it now. None if the node did not
    /// answer, or there is no payment to look for.
    pub payment: Option<Trace>,
    /// The payment's transaction. None if there is none, or the node did not answer.
    pub transaction: Option<ChainTransaction>,
    /// The refund's transaction.
    pub refund: Option<ChainTransaction>,
    /// The cards that the provider has for the order. None if it did not answer, or another
    /// account was asked.
    pub cards: Option<Vec<Mailpiece>>,
    /// How far the recorded card has come.
    pub delivery: Option<Delivery>,
}

impl OperatorActions {
    /// Asks chain and provider about an order. Nothing is changed.
    pub async fn evidence(&self, order: OrderId) -> Result<OrderEvidence, ActionRejection> {
        let order = self.find(order).await?;
        let events = self.writer.store.events(order.id()).await;
        let events = events.map_err(ActionRejection::of_read)?;
        let (settled, refunded) = transactions(&order);
        let mailed = order.mailed().map(|mailed| mailed.mailpiece.clone());
        let delivery = match &mailed {
            Some(mailpiece) => self.writer.provider.track(mailpiece).await.ok().flatten(),
            None => None,
        };
        Ok(OrderEvidence {
            events,
            collected_at: self.writer.clock.now(),
            payment: self.traced(&order, settled.as_deref()).await,
            transaction: self.transaction(&order, settled.as_deref()).await,
            refund: self.transaction(&order, refunded.as_deref()).await,
            cards: self.known_cards(&order).await,
            delivery,
            order,
        })
    }

    async fn traced(&self, order: &Stored, settled: Option<&str>) -> Option<Trace> {
        let payment = order.payment()?;
        self.tenders.resume(payment)?.trace(payment, settled).await.ok()
    }

    async fn transaction(&self, order: &Stored, hash: Option<&str>) -> Option<ChainTransaction> {
        let network = order.payment()?.authorization.network;
        let hash = TransactionHash::parse(hash?).ok()?;
        self.transfers.transaction(network, &hash).await.ok()
    }

    async fn known_cards(&self, order: &Stored) -> Option<Vec<Mailpiece>> {
        self.check_provider(order.submitted_to()).ok()?;
        let since = order.paid()?.handed_in_after();
        self.writer.provider.find(order.id(), since).await.ok()
    }
}

/// The transactions of the payment and of the refund.
fn transactions(order: &Stored) -> (Option<String>, Option<String>) {
    let settled = order.paid().map(|paid| paid.settlement.transaction.clone());
    match order {
        Stored::Refunded(order) => (settled, Some(order.state.refund.transaction.clone())),
        Stored::Offered(_)
        | Stored::Settling(_)
        | Stored::Unconfirmed(_)
        | Stored::Submitting(_)
        | Stored::Unfulfilled(_)
        | Stored::Mailed(_)
        | Stored::Lapsed(_) => (settled, None),
    }
}
