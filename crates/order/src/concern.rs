//! Orders that do not come to rest by themselves, about which a person should know.

use crate::ids::OrderId;
use crate::lifecycle::{Shortfall, Standing, Stored};

/// After so many looks in vain somebody is told: about twenty minutes.
const LOOKS_FIRST: u32 = 8;
/// And again after so many more: every six hours, at ten minutes a look.
const LOOKS_BETWEEN: u32 = 36;

/// What a round has found that it cannot mend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Concern {
    pub order: OrderId,
    pub about: About,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// Nobody can say whether the money moved.
    Payment,
    /// The provider goes on refusing a card that is paid for.
    RefusedCard,
    /// A card that is paid for may be in the post, or not.
    CardInDoubt,
    /// A card is in the post, and its money does not become final.
    Finality,
    /// The chain took the money back, and the card could not be stopped.
    Reversed,
    /// The provider says that a card will not arrive.
    Undelivered,
}

/// Whether this look in vain is one of those after which somebody is told.
pub(crate) const fn is_time(looks: u32) -> bool {
    looks >= LOOKS_FIRST && (looks - LOOKS_FIRST).is_multiple_of(LOOKS_BETWEEN)
}

/// What keeps an order from its rest, after many looks.
pub(crate) fn unrest(order: &Stored) -> Option<About> {
    match order {
        Stored::Settling(_) | Stored::Unconfirmed(_) => Some(About::Payment),
        Stored::Submitting(_) => Some(About::CardInDoubt),
        Stored::Unfulfilled(order) => Some(match order.state.shortfall {
            Shortfall::Refused(_) => About::RefusedCard,
            Shortfall::Lost(_) => About::CardInDoubt,
            Shortfall::Undelivered(_) => About::Undelivered,
        }),
        Stored::Mailed(order) => match order.state.paid.standing {
            // Money is looked at every two minutes; the first alarm would come too early.
            Standing::Provisional if order.attention.looks > LOOKS_FIRST => Some(About::Finality),
            Standing::Provisional | Standing::Final | Standing::Reversed => None,
        },
        Stored::Offered(_) | Stored::Refunded(_) | Stored::Lapsed(_) => None,
    }
}
