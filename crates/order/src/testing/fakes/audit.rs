//! Compares transfers and mailpieces with the stored orders, and reports broken invariants.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::world::FakeWorld;
use crate::lifecycle::{Standing, Stored};
use crate::model::ids::OrderId;
use crate::outcome::Outcome;
use crate::refusal::Refusal;

/// An invariant that must hold for every order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Breach {
    /// Money moved and no order says so.
    LostPayment,
    DoubleCharge,
    /// More was taken than the payer had signed for, or than the price is.
    Overcharge,
    DoubleCard,
    /// One write was followed by two submissions of the card.
    DoubleSubmission,
    /// A card was mailed without a payment.
    UnpaidCard,
    /// An order is `Mailed`, but the provider has no card for it.
    LostCard,
    /// A payer was answered 402 while the payment was made or in doubt.
    Wrong402,
    /// The outcome is unknown and the order is not left to an operator.
    StillInDoubt,
}

impl Breach {
    pub const ALL: [Self; 9] = [
        Self::LostPayment,
        Self::DoubleCharge,
        Self::Overcharge,
        Self::DoubleCard,
        Self::DoubleSubmission,
        Self::UnpaidCard,
        Self::LostCard,
        Self::Wrong402,
        Self::StillInDoubt,
    ];
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LostPayment => "paid orders lost",
            Self::DoubleCharge => "orders charged twice",
            Self::Overcharge => "orders charged too much",
            Self::DoubleCard => "cards mailed twice",
            Self::DoubleSubmission => "cards submitted twice after one write",
            Self::UnpaidCard => "cards mailed unpaid",
            Self::LostCard => "cards recorded as mailed that are not",
            Self::Wrong402 => "402 while paid or in doubt",
            Self::StillInDoubt => "orders in doubt after recovery",
        })
    }
}

impl FakeWorld {
    /// Records a response that asks for payment although money has moved for
    /// the order, or may still move.
    pub fn check_response(&self, response: &Result<Outcome, Refusal>) {
        let invited = match response {
            Ok(Outcome::Due(offer))
            | Err(
                Refusal::CredentialInvalid { offer, .. }
                | Refusal::PaymentDeclined { offer, .. }
                | Refusal::AllowanceRequired(offer),
            ) => offer.order,
            Ok(Outcome::Paid { .. }) | Err(_) => return,
        };
        if self.is_paid_or_in_doubt(invited) {
            self.wrong_402s.lock().unwrap().insert(invited);
        }
    }

    /// Whether money has moved for an order or may still move, or another order
    /// of its operation is in play.
    fn is_paid_or_in_doubt(&self, id: OrderId) -> bool {
        let (now, far_off) = (self.time(), *self.clock_was_far_off.lock().unwrap());
        let operation = self.store.get(id).map(|order| order.operation().key);
        let mut chain = self.chain.lock().unwrap();
        let mut moved =
            |id| self.store.keys_of(id).into_iter().any(|key| chain.moved_or_may_move(key, now));
        let others = self
            .store
            .orders()
            .into_iter()
            .filter(|other| other.id() != id && Some(other.operation().key) == operation);
        moved(id)
            || others.into_iter().any(|other| other.is_in_play() || (!far_off && moved(other.id())))
    }

    /// The broken invariants, once all faults have ended and recovery has run.
    pub fn audit(&self) -> Vec<(Breach, Option<OrderId>)> {
        let mut breaches = Vec::new();
        let mut charges = BTreeMap::<OrderId, u32>::new();
        for moved in &self.chain.lock().unwrap().transfers {
            let order = self.store.bound_to(moved.key);
            if moved.amount > moved.most {
                breaches.push((Breach::Overcharge, order));
            }
            match order {
                Some(order) => *charges.entry(order).or_default() += 1,
                None => breaches.push((Breach::LostPayment, None)),
            }
        }
        let charged = |order: OrderId| charges.get(&order).copied().unwrap_or_default();
        // With a clock that ran ahead by years, a finished card is last year's
        // and may be bought again. Otherwise an operation is paid once.
        let far_off = *self.clock_was_far_off.lock().unwrap();
        let mut paid_operations = BTreeSet::new();
        let provider = self.provider.lock().unwrap();
        for mailpiece in provider.mailpieces.iter().filter(|card| !card.cancelled && !card.failed) {
            let loss_is_booked =
                self.store.get(mailpiece.order).is_some_and(|order| is_reversed(&order));
            if charged(mailpiece.order) == 0 && !loss_is_booked {
                breaches.push((Breach::UnpaidCard, Some(mailpiece.order)));
            }
        }
        for order in self.store.orders() {
            let (id, cards) = (order.id(), provider.live(order.id()));
            let mut found = |breach| breaches.push((breach, Some(id)));
            let operation = order.operation().key;
            let before =
                (charged(id) > 0).then(|| paid_operations.insert(operation)) == Some(false);
            if charged(id) > 1 || (before && !far_off) {
                found(Breach::DoubleCharge);
            }
            if cards > 1 {
                found(Breach::DoubleCard);
            }
            match order {
                Stored::Offered(_) | Stored::Lapsed(_) if charged(id) > 0 => {
                    found(Breach::LostPayment);
                }
                Stored::Offered(_) | Stored::Lapsed(_) | Stored::Refunded(_) => {}
                Stored::Settling(_) | Stored::Unconfirmed(_) | Stored::Submitting(_) => {
                    found(Breach::StillInDoubt);
                }
                // A card that is in the post must not look like a debt.
                Stored::Unfulfilled(_) if cards > 0 => found(Breach::StillInDoubt),
                Stored::Unfulfilled(_) => {}
                Stored::Mailed(_) if provider.accepted_for(id).next().is_none() => {
                    found(Breach::LostCard);
                }
                Stored::Mailed(_) => {}
            }
        }
        let twice = self.submitted_twice.lock().unwrap();
        breaches.extend(twice.iter().map(|id| (Breach::DoubleSubmission, Some(*id))));
        let invited = self.wrong_402s.lock().unwrap();
        breaches.extend(invited.iter().map(|id| (Breach::Wrong402, Some(*id))));
        breaches
    }
}

fn is_reversed(order: &Stored) -> bool {
    match order {
        Stored::Mailed(order) => order.state.paid.standing == Standing::Reversed,
        Stored::Offered(_)
        | Stored::Settling(_)
        | Stored::Unconfirmed(_)
        | Stored::Submitting(_)
        | Stored::Unfulfilled(_)
        | Stored::Refunded(_)
        | Stored::Lapsed(_) => false,
    }
}
