//! Orders that do not come to rest by themselves, about which a person should know.

use crate::lifecycle::{Paid, Shortfall, Standing, Stored};
use crate::model::ids::{OrderId, Timestamp};
use crate::model::mail::ProviderAccount;

/// After so many looks in vain somebody is told: about twenty minutes.
const LOOKS_FIRST: u32 = 9;
/// And once more, an hour later, at ten minutes a look.
const LOOKS_SECOND: u32 = 15;
/// And then every day.
const LOOKS_BETWEEN: u32 = 144;
/// A chain may take half an hour to make a block final, and nothing is wrong.
const FINALITY_SECONDS: u64 = 60 * 60;

/// What a round has found that it cannot mend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    pub order: OrderId,
    pub kind: AlertKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlertKind {
    /// Nobody can say whether the money moved.
    Payment,
    /// The provider goes on refusing a card that is paid for.
    RefusedCard,
    /// A card that is paid for may be in the post, or not.
    CardInDoubt,
    /// A card is in the post or owed, and its money does not become final.
    Finality,
    /// The chain took the money back, and the card could not be stopped.
    Reversed,
    /// The chain took the money back, and the card is at a provider that is not configured, so
    /// it cannot be stopped from here. None if the order does not say which provider.
    ReversedElsewhere(Option<ProviderAccount>),
    /// The provider says that a card will not arrive.
    Undelivered,
}

/// Whether this look in vain is one of those after which somebody is told.
pub(crate) const fn is_time(looks: u32) -> bool {
    looks == LOOKS_FIRST
        || looks >= LOOKS_SECOND && (looks - LOOKS_SECOND).is_multiple_of(LOOKS_BETWEEN)
}

/// What keeps an order from its rest, after many looks.
pub(crate) fn unrest(order: &Stored, now: Timestamp) -> Option<AlertKind> {
    let past = |since: Timestamp| since.plus(FINALITY_SECONDS) < now;
    let open = |paid: &Paid| paid.standing == Standing::Provisional && past(paid.settlement.at);
    match order {
        // Until its promise has run out for good, it simply waits for that.
        Stored::Settling(_) | Stored::Unconfirmed(_) => {
            let payment = order.payment()?;
            past(payment.authorization.deadline).then_some(AlertKind::Payment)
        }
        Stored::Submitting(_) => Some(AlertKind::CardInDoubt),
        Stored::Unfulfilled(order) => Some(match &order.state.shortfall {
            // Nobody hands in a card whose money nobody can see.
            Shortfall::Refused(was) if open(&was.paid) => AlertKind::Finality,
            Shortfall::Refused(_) => AlertKind::RefusedCard,
            Shortfall::Lost(_) => AlertKind::CardInDoubt,
            Shortfall::Undelivered(_) => AlertKind::Undelivered,
        }),
        Stored::Mailed(order) => open(&order.state.paid).then_some(AlertKind::Finality),
        Stored::Offered(_) | Stored::Refunded(_) | Stored::Lapsed(_) => None,
    }
}
