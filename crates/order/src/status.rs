//! The privacy-safe view of an order. It has no field for a name, an address or a message.

use std::sync::Arc;

use crate::lifecycle::{Paid, Refund, Shortfall, Stored};
use crate::model::chain::{EvmAddress, Network};
use crate::model::identity::Identity;
use crate::model::ids::{OrderId, Timestamp};
use crate::model::mail::{Delivery, Stage};
use crate::model::money::{CEILING, Usdc};
use crate::model::payment::TenderKind;
use crate::ports::{Clock, Store, StoreError};

/// Reads what is told of an order.
#[derive(Clone)]
pub struct StatusReader {
    pub store: Arc<dyn Store>,
    pub identity: Identity,
    pub clock: Arc<dyn Clock>,
}

impl StatusReader {
    /// None if the id is not one of ours, which needs no look into the store. One of ours
    /// that the store does not know was never paid.
    pub async fn view(&self, id: OrderId) -> Result<Option<View>, StoreError> {
        if !self.identity.has_issued(id) {
            return Ok(None);
        }
        let order = self.store.find(id).await?;
        let now = self.clock.now();
        Ok(Some(order.map_or_else(|| View::unpaid(id), |order| View::of(&order.at(now)))))
    }
}

/// The public status of an order: what a holder of its id may know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    pub id: OrderId,
    pub status: Status,
    /// When its first payment began, or its identifier was first used. An order without
    /// either has no times.
    pub created_at: Option<Timestamp>,
    /// When anything else in this view last changed.
    pub updated_at: Option<Timestamp>,
    /// Only once money has moved.
    pub payment: Option<PaymentView>,
    /// Only once a provider has accepted the card.
    pub delivery: Option<Delivery>,
    /// Only once the money was returned.
    pub refund: Option<Refund>,
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
    /// The card will not arrive, and the charge is to be returned.
    RefundDue,
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
            Self::RefundDue => "refund_due",
            Self::Mailed => "mailed",
            Self::Delivered => "delivered",
            Self::Returned => "returned",
            Self::Refunded => "refunded",
            Self::Expired => "expired",
        }
    }
}

impl View {
    /// An order of ours that the store does not know: nothing was ever paid for it.
    pub const fn unpaid(id: OrderId) -> Self {
        let (created_at, updated_at) = (None, None);
        let (payment, delivery, refund) = (None, None, None);
        Self { id, status: Status::Unpaid, created_at, updated_at, payment, delivery, refund }
    }

    pub fn of(order: &Stored) -> Self {
        let (status, paid, delivery) = match order {
            Stored::Offered(_) => (Status::Unpaid, None, None),
            Stored::Settling(_) => (Status::PaymentPending, None, None),
            Stored::Unconfirmed(_) => (Status::PaymentUnconfirmed, None, None),
            Stored::Submitting(order) => (Status::Paid, Some(&order.state.paid), None),
            Stored::Unfulfilled(order) => {
                let (status, delivery) = match &order.state.shortfall {
                    Shortfall::Refused(_) | Shortfall::Lost(_) => {
                        (Status::FulfillmentNeedsReconciliation, None)
                    }
                    Shortfall::Undelivered(mailed) => (Status::RefundDue, Some(mailed.delivery)),
                    Shortfall::Erased(_) => (Status::RefundDue, None),
                };
                (status, Some(order.state.shortfall.paid()), delivery)
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
            created_at: Some(order.created_at()),
            updated_at: Some(order.updated_at()),
            payment: paid.map(payment),
            delivery,
            refund: refund(order),
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

fn refund(order: &Stored) -> Option<Refund> {
    match order {
        Stored::Refunded(order) => Some(order.state.refund.clone()),
        Stored::Offered(_)
        | Stored::Settling(_)
        | Stored::Unconfirmed(_)
        | Stored::Submitting(_)
        | Stored::Unfulfilled(_)
        | Stored::Mailed(_)
        | Stored::Lapsed(_) => None,
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
    use super::*;
    use crate::checkout::Request;
    use crate::lifecycle::OFFER_SECONDS;
    use crate::model::mail::Promises;
    use crate::outcome::Outcome;
    use crate::testing::fakes::cards::card;
    use crate::testing::fakes::fault_schedule::ExhaustiveFaults;
    use crate::testing::fakes::manual_time::{ManualTime, poll_once};
    use crate::testing::fakes::tender::{CREDENTIAL_SECONDS, FakeCredential};
    use crate::testing::fakes::world::FakeWorld;

    const PROMISES: Promises =
        Promises { idempotent_seconds: None, cancel_seconds: 3_600, visibility_lag_seconds: 0 };

    fn status_of(world: &Arc<FakeWorld>, order: OrderId) -> View {
        poll_once(world.process().status_reader().view(order)).unwrap().unwrap().unwrap()
    }

    /// The view of a card's order, after asking and after paying for it.
    fn views() -> (View, View, Arc<FakeWorld>, ManualTime) {
        let still = ManualTime::default();
        let world = FakeWorld::new(
            Box::new(ExhaustiveFaults::default()),
            Box::new(still.clone()),
            PROMISES,
        );
        let process = world.process();
        let deadline = world.time().0 + CREDENTIAL_SECONDS;
        let signed =
            FakeCredential { nonce: 1, most: 3_500_000, deadline, payee: 0xa1 }.credential();
        let view = |credential| {
            let card = card("hello");
            let request =
                Request { seller: None, operation_id: None, card, quote: None, credential };
            let said =
                poll_once(process.send(&world.tender(TenderKind::X402), request)).unwrap().unwrap();
            let order = match said {
                Outcome::Due(offer) => offer.order,
                Outcome::Paid { order, .. } => order,
            };
            status_of(&world, order)
        };
        (view(None), view(Some(signed)), world.clone(), still)
    }

    #[test]
    fn an_unpaid_order_shows_neither_payment_nor_delivery() {
        let (unpaid, ..) = views();
        assert_eq!(unpaid.status.word(), "unpaid");
        assert_eq!((unpaid.payment, unpaid.delivery), (None, None));
        assert_eq!((unpaid.created_at, unpaid.updated_at), (None, None));
    }

    #[test]
    fn an_identifier_has_times_and_expires_and_an_id_that_is_not_ours_is_unknown() {
        let (_, paid, world, still) = views();
        let operation_id = Some("birthday-of-ada-1".parse().unwrap());
        let card = card("hello");
        let request = Request { seller: None, operation_id, card, quote: None, credential: None };
        let said = poll_once(world.process().send(&world.tender(TenderKind::X402), request));
        let Outcome::Due(offer) = said.unwrap().unwrap() else { panic!("not paid") };
        let created_at = Some(world.time());
        let unpaid = status_of(&world, offer.order);
        assert_eq!((unpaid.status, unpaid.created_at), (Status::Unpaid, created_at));
        still.advance(OFFER_SECONDS);
        let expired = status_of(&world, offer.order);
        assert_eq!((expired.status, expired.updated_at), (Status::Expired, Some(world.time())));
        let mut other = paid.id.bytes();
        other[0] ^= 1;
        let unknown = world.process().status_reader();
        assert_eq!(poll_once(unknown.view(OrderId::from_bytes(other))).unwrap(), Ok(None));
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
        let process = world.process();
        for _ in 0..40 {
            still.advance(600);
            poll_once(process.reconcile(&world.tenders(), &|_| ())).unwrap().unwrap();
        }
        assert_eq!(View::of(&world.store.get(paid.id).unwrap()).status.word(), "delivered");
    }
}
