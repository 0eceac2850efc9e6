//! The privacy-safe view of an order. It has no field for a name, an address or a message.

use crate::chain::{EvmAddress, Network};
use crate::ids::{OrderId, Timestamp};
use crate::lifecycle::{Paid, Shortfall, Stored};
use crate::mail::{Delivery, Stage};
use crate::money::{CEILING, Usdc};
use crate::payment::TenderKind;

/// What anybody who holds an order's id may know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    pub id: OrderId,
    pub status: Status,
    pub created_at: Timestamp,
    /// When anything else in this view last changed.
    pub updated_at: Timestamp,
    /// Only once money has moved.
    pub payment: Option<PaymentView>,
    /// Only once a provider has accepted the card.
    pub delivery: Option<Delivery>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentView {
    pub tender: TenderKind,
    pub network: Network,
    pub maximum: Usdc,
    pub charged: Usdc,
    pub pay_to: EvmAddress,
    pub transaction: String,
    pub confirmed_at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Unpaid,
    PaymentPending,
    PaymentUnconfirmed,
    Paid,
    Submitted,
    FulfillmentNeedsReconciliation,
    Mailed,
    Delivered,
    Returned,
    Refunded,
    Expired,
}

impl Status {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Unpaid => "unpaid",
            Self::PaymentPending => "payment_pending",
            Self::PaymentUnconfirmed => "payment_unconfirmed",
            Self::Paid => "paid",
            Self::Submitted => "submitted",
            Self::FulfillmentNeedsReconciliation => "fulfillment_needs_reconciliation",
            Self::Mailed => "mailed",
            Self::Delivered => "delivered",
            Self::Returned => "returned",
            Self::Refunded => "refunded",
            Self::Expired => "expired",
        }
    }
}

impl View {
    pub fn of(order: &Stored) -> Self {
        let (status, paid, delivery) = match order {
            Stored::Offered(_) => (Status::Unpaid, None, None),
            Stored::Settling(_) => (Status::PaymentPending, None, None),
            Stored::Unconfirmed(_) => (Status::PaymentUnconfirmed, None, None),
            Stored::Submitting(order) => (Status::Paid, Some(&order.state.paid), None),
            Stored::Unfulfilled(order) => {
                let delivery = match &order.state.shortfall {
                    Shortfall::Refused(_) | Shortfall::Lost(_) => None,
                    Shortfall::Undelivered(mailed) => Some(mailed.delivery),
                };
                let paid = order.state.shortfall.paid();
                (Status::FulfillmentNeedsReconciliation, Some(paid), delivery)
            }
            Stored::Mailed(order) => {
                let delivery = order.state.delivery;
                (arrived(delivery.stage), Some(&order.state.paid), Some(delivery))
            }
            Stored::Refunded(order) => (Status::Refunded, Some(&order.state.paid), None),
            Stored::Lapsed(_) => (Status::Expired, None, None),
        };
        Self {
            id: order.id(),
            status,
            created_at: order.created_at(),
            updated_at: order.updated_at(),
            payment: paid.map(payment),
            delivery,
        }
    }

    /// Whether a reader of both finds no difference, whenever they were written.
    pub(crate) fn tells_the_same_as(&self, other: &Self) -> bool {
        Self { updated_at: other.updated_at, ..self.clone() } == *other
    }
}

fn arrived(stage: Stage) -> Status {
    match stage {
        Stage::Accepted => Status::Submitted,
        Stage::Mailed => Status::Mailed,
        Stage::Delivered => Status::Delivered,
        Stage::Returned => Status::Returned,
        Stage::Failed => Status::FulfillmentNeedsReconciliation,
    }
}

fn payment(paid: &Paid) -> PaymentView {
    let authorization = &paid.payment.authorization;
    PaymentView {
        tender: authorization.tender,
        network: authorization.network,
        maximum: CEILING,
        charged: paid.settlement.amount,
        pay_to: authorization.pay_to,
        transaction: paid.settlement.transaction.clone(),
        confirmed_at: paid.settlement.at,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::desk::{Outcome, Request};
    use crate::fakes::cards::card;
    use crate::fakes::chain::{PROMISE_SECONDS, Promise};
    use crate::fakes::fates::EveryFate;
    use crate::fakes::still::{Still, drive};
    use crate::fakes::world::World;
    use crate::mail::Promises;

    const PROMISES: Promises =
        Promises { idempotent_seconds: None, cancel_seconds: 3_600, visibility_lag_seconds: 0 };

    /// The view of a card's order, after asking and after paying for it.
    fn views() -> (View, View, Arc<World>, Still) {
        let still = Still::default();
        let world = World::new(Box::new(EveryFate::default()), Box::new(still.clone()), PROMISES);
        let desk = world.desk();
        let deadline = world.time().0 + PROMISE_SECONDS;
        let signed = Promise { nonce: 1, most: 3_500_000, deadline, payee: 0xa1 }.credential();
        let view = |credential| {
            let card = card("hello");
            let request = Request { seller: None, operation_id: None, card, credential };
            let said = drive(desk.send(&world.till(TenderKind::X402), request)).unwrap().unwrap();
            let order = match said {
                Outcome::Due(offer) => offer.order,
                Outcome::Paid { order, .. } => order,
            };
            View::of(&world.shelf.get(order).unwrap())
        };
        (view(None), view(Some(signed)), world.clone(), still)
    }

    #[test]
    fn an_unpaid_order_shows_neither_payment_nor_delivery() {
        let (unpaid, ..) = views();
        assert_eq!(unpaid.status.word(), "unpaid");
        assert_eq!((unpaid.payment, unpaid.delivery), (None, None));
    }

    #[test]
    fn a_paid_order_shows_the_charge_and_how_far_the_card_has_come() {
        let (_, paid, world, still) = views();
        let payment = paid.payment.unwrap();
        assert_eq!(paid.status.word(), "submitted");
        assert_eq!(
            (payment.charged.to_string(), payment.maximum.to_string()),
            ("2.42".into(), "3.50".into())
        );
        let desk = world.desk();
        for _ in 0..40 {
            still.advance(600);
            drive(desk.reconcile(&world.tenders(), &|_| ())).unwrap().unwrap();
        }
        assert_eq!(View::of(&world.shelf.get(paid.id).unwrap()).status.word(), "delivered");
    }
}
