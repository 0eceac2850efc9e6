//! Alerts: orders that do not come to rest and need a person.

use crate::lifecycle::{Paid, Shortfall, Standing, Stored};
use crate::model::ids::{OrderId, Timestamp};
use crate::model::mail::ProviderAccount;

/// The first alert comes after so many examinations without a result: about twenty minutes.
const LOOKS_FIRST: u32 = 9;
/// The second one comes an hour later, at ten minutes an examination.
const LOOKS_SECOND: u32 = 15;
/// After that, one every day.
const LOOKS_BETWEEN: u32 = 144;
/// A chain may take half an hour to make a block final.
const FINALITY_SECONDS: u64 = 60 * 60;

/// What the reconciler reports to a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    pub order: OrderId,
    pub kind: AlertKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlertKind {
    /// It is not known whether the money moved.
    Payment,
    /// The provider keeps refusing a paid card.
    RefusedCard,
    /// A paid card may be in the mail, or not.
    CardInDoubt,
    /// A card is mailed or owed, and its payment does not become final.
    Finality,
    /// The chain was reorganised without the payment, and the card could not be cancelled.
    Reversed,
    /// The chain was reorganised without the payment, and the card is at a provider that is not
    /// configured, so it cannot be cancelled here. None if the order does not name a provider.
    ReversedElsewhere(Option<ProviderAccount>),
    /// The provider reports that a card will not arrive: a refund is due.
    Undelivered,
    /// An operator has decided that a card will not be mailed: a refund is due.
    RefundDue,
}

/// Whether an alert is due after this many examinations without a result.
pub(crate) const fn is_time(looks: u32) -> bool {
    looks == LOOKS_FIRST
        || looks >= LOOKS_SECOND && (looks - LOOKS_SECOND).is_multiple_of(LOOKS_BETWEEN)
}

/// What keeps an order from its rest, after many examinations.
pub(crate) fn unrest(order: &Stored, now: Timestamp) -> Option<AlertKind> {
    let past = |since: Timestamp| since.plus(FINALITY_SECONDS) < now;
    let open = |paid: &Paid| paid.standing == Standing::Provisional && past(paid.settlement.at);
    match order {
        // Until the authorization has certainly expired, the order waits for that.
        Stored::Settling(_) | Stored::Unconfirmed(_) => {
            let payment = order.payment()?;
            past(payment.authorization.deadline).then_some(AlertKind::Payment)
        }
        Stored::Submitting(_) => Some(AlertKind::CardInDoubt),
        Stored::Unfulfilled(order) => Some(match &order.state.shortfall {
            // A card is not submitted while its payment cannot be seen.
            Shortfall::Refused(was) if open(&was.paid) => AlertKind::Finality,
            Shortfall::Refused(_) => AlertKind::RefusedCard,
            Shortfall::Lost(_) => AlertKind::CardInDoubt,
            Shortfall::Undelivered(_) => AlertKind::Undelivered,
            Shortfall::Erased(_) => AlertKind::RefundDue,
        }),
        Stored::Mailed(order) => open(&order.state.paid).then_some(AlertKind::Finality),
        Stored::Offered(_) | Stored::Refunded(_) | Stored::Lapsed(_) => None,
    }
}
