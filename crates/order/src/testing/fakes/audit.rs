//! Money and cards held against the books: what must never be found.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::world::World;
use crate::checkout::Outcome;
use crate::lifecycle::{Standing, Stored};
use crate::model::ids::OrderId;
use crate::refusal::Refusal;

/// A broken promise of the house.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Breach {
    /// Money moved and no order says so.
    LostPayment,
    DoubleCharge,
    /// More was taken than the payer had signed for, or than the price is.
    Overcharge,
    DoubleCard,
    /// A card is in the post and nobody paid for it.
    UnpaidCard,
    /// An order says that its card is in the post, and there is none.
    LostCard,
    /// A payer was asked to pay for what was paid or in doubt.
    WrongInvitation,
    /// Nobody knows, and no person is asked to decide.
    StillInDoubt,
}

impl Breach {
    pub const ALL: [Self; 8] = [
        Self::LostPayment,
        Self::DoubleCharge,
        Self::Overcharge,
        Self::DoubleCard,
        Self::UnpaidCard,
        Self::LostCard,
        Self::WrongInvitation,
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
            Self::UnpaidCard => "cards mailed unpaid",
            Self::LostCard => "cards said to be mailed that are not",
            Self::WrongInvitation => "402 while paid or in doubt",
            Self::StillInDoubt => "orders in doubt after recovery",
        })
    }
}

impl World {
    /// Listens to what a caller is told. An invitation to pay is wrong while
    /// money has moved for the order, or may still move.
    pub fn overhear(&self, said: &Result<Outcome, Refusal>) {
        let invited = match said {
            Ok(Outcome::Due(offer))
            | Err(
                Refusal::CredentialInvalid { offer, .. }
                | Refusal::PaymentDeclined { offer, .. }
                | Refusal::AllowanceRequired(offer),
            ) => offer.order,
            Ok(Outcome::Paid { .. }) | Err(_) => return,
        };
        if self.is_paid_or_in_doubt(invited) {
            self.wrongly_invited.lock().unwrap().insert(invited);
        }
    }

    /// Whether money has moved for an order or may still move, or another order
    /// of its operation is in play.
    fn is_paid_or_in_doubt(&self, id: OrderId) -> bool {
        let (now, ran_away) = (self.time(), *self.clock_ran_away.lock().unwrap());
        let operation = self.shelf.get(id).map(|order| order.operation().key);
        let mut chain = self.chain.lock().unwrap();
        let mut moved =
            |id| self.shelf.keys_of(id).into_iter().any(|key| chain.moved_or_may(key, now));
        let others = self
            .shelf
            .orders()
            .into_iter()
            .filter(|other| other.id() != id && Some(other.operation().key) == operation);
        moved(id)
            || others
                .into_iter()
                .any(|other| other.is_in_play() || (!ran_away && moved(other.id())))
    }

    /// What is wrong once the world has recovered and the house has had time.
    pub fn audit(&self) -> Vec<(Breach, Option<OrderId>)> {
        let mut breaches = Vec::new();
        let mut charges = BTreeMap::<OrderId, u32>::new();
        for moved in &self.chain.lock().unwrap().transfers {
            let order = self.shelf.bound_to(moved.key);
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
        let ran_away = *self.clock_ran_away.lock().unwrap();
        let mut paid_operations = BTreeSet::new();
        let press = self.press.lock().unwrap();
        for piece in press.pieces.iter().filter(|piece| !piece.cancelled) {
            let loss_is_booked =
                self.shelf.get(piece.order).is_some_and(|order| is_reversed(&order));
            if charged(piece.order) == 0 && !loss_is_booked {
                breaches.push((Breach::UnpaidCard, Some(piece.order)));
            }
        }
        for order in self.shelf.orders() {
            let (id, cards) = (order.id(), press.live(order.id()));
            let mut found = |breach| breaches.push((breach, Some(id)));
            let operation = order.operation().key;
            let before =
                (charged(id) > 0).then(|| paid_operations.insert(operation)) == Some(false);
            if charged(id) > 1 || (before && !ran_away) {
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
                Stored::Mailed(_) if cards == 0 => found(Breach::LostCard),
                Stored::Mailed(_) => {}
            }
        }
        let invited = self.wrongly_invited.lock().unwrap();
        breaches.extend(invited.iter().map(|id| (Breach::WrongInvitation, Some(*id))));
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
