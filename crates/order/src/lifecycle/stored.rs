//! An order of any state, as the store keeps it.

use crate::lifecycle::order::Order;
use crate::lifecycle::schedule::Attention;
use crate::lifecycle::states::{
    Lapsed, Mailed, Offered, Paid, Refunded, Settling, Shortfall, Submitting, Unconfirmed,
    Unfulfilled,
};
use crate::model::identity::{Operation, Origin};
use crate::model::ids::{OrderId, Timestamp};
use crate::model::mail::ProviderAccount;
use crate::model::payment::{Payment, PaymentKey};

/// After this time the same request starts a new order.
pub const IDENTITY_SECONDS: u64 = 30 * 24 * 60 * 60;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stored {
    Offered(Order<Offered>),
    Settling(Order<Settling>),
    Unconfirmed(Order<Unconfirmed>),
    Submitting(Order<Submitting>),
    Unfulfilled(Order<Unfulfilled>),
    Mailed(Order<Mailed>),
    Refunded(Order<Refunded>),
    Lapsed(Order<Lapsed>),
}

macro_rules! stored {
    ($($state:ident),+) => {
        $(impl From<Order<$state>> for Stored {
            fn from(order: Order<$state>) -> Self {
                Self::$state(order)
            }
        })+

        impl Stored {
            pub fn id(&self) -> OrderId {
                match self { $(Self::$state(order) => order.id),+ }
            }

            pub fn operation(&self) -> &Operation {
                match self { $(Self::$state(order) => &order.operation),+ }
            }

            pub fn created_at(&self) -> Timestamp {
                match self { $(Self::$state(order) => order.created_at),+ }
            }

            pub fn updated_at(&self) -> Timestamp {
                match self { $(Self::$state(order) => order.updated_at),+ }
            }

            pub fn expires_at(&self) -> Timestamp {
                match self { $(Self::$state(order) => order.expires_at),+ }
            }

            pub fn attention(&self) -> Attention {
                match self { $(Self::$state(order) => order.attention),+ }
            }

            pub fn set_attention(&mut self, attention: Attention) {
                match self { $(Self::$state(order) => order.attention = attention),+ }
            }

            pub fn version(&self) -> u64 {
                match self { $(Self::$state(order) => order.version),+ }
            }

            pub fn set_version(&mut self, version: u64) {
                match self { $(Self::$state(order) => order.version = version),+ }
            }
        }
    };
}
stored!(Offered, Settling, Unconfirmed, Submitting, Unfulfilled, Mailed, Refunded, Lapsed);

/// Whether an operation may start over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Succession {
    /// This order answers for the operation.
    Stays,
    /// It has ended; the next generation begins.
    Next,
}

impl Stored {
    /// One word for the state, as events and the operator read it.
    pub fn headline(&self) -> &'static str {
        match self {
            Self::Offered(_) => "offered",
            Self::Settling(_) => "settling",
            Self::Unconfirmed(_) => "unconfirmed",
            Self::Submitting(_) => "submitting",
            Self::Unfulfilled(order) => match order.state.shortfall {
                Shortfall::Refused(_) => Self::REFUSED_CARD,
                Shortfall::Lost(_) => "unfulfilled_lost",
                Shortfall::Undelivered(_) => "unfulfilled_undelivered",
                Shortfall::Erased(_) => "unfulfilled_erased",
            },
            Self::Mailed(_) => "mailed",
            Self::Refunded(_) => "refunded",
            Self::Lapsed(_) => "lapsed",
        }
    }

    /// The same order at this time: an offer whose time is over has lapsed, also before that
    /// is written.
    #[must_use]
    pub fn at(self, now: Timestamp) -> Self {
        match self {
            Self::Offered(offer) if offer.is_expired(now) => offer.lapse().into(),
            Self::Offered(_)
            | Self::Settling(_)
            | Self::Unconfirmed(_)
            | Self::Submitting(_)
            | Self::Unfulfilled(_)
            | Self::Mailed(_)
            | Self::Refunded(_)
            | Self::Lapsed(_) => self,
        }
    }

    /// Whether money or a card is owed or in doubt. Of one operation, no two
    /// orders may ever be in play.
    pub fn is_in_play(&self) -> bool {
        match self {
            Self::Settling(_)
            | Self::Unconfirmed(_)
            | Self::Submitting(_)
            | Self::Unfulfilled(_) => true,
            Self::Offered(_) | Self::Mailed(_) | Self::Refunded(_) | Self::Lapsed(_) => false,
        }
    }

    /// The [headlines](Self::headline) of the orders that are in play. Stores put this list into
    /// their queries and indexes.
    pub const IN_PLAY: &[&str] = &[
        "settling",
        "unconfirmed",
        "submitting",
        Self::REFUSED_CARD,
        "unfulfilled_lost",
        "unfulfilled_undelivered",
        "unfulfilled_erased",
    ];

    /// Whether a call to the outside is in flight, so that the process which makes it
    /// works on this order until the answer is written.
    pub fn is_in_flight(&self) -> bool {
        match self {
            Self::Settling(_) | Self::Submitting(_) => true,
            Self::Offered(_)
            | Self::Unconfirmed(_)
            | Self::Unfulfilled(_)
            | Self::Mailed(_)
            | Self::Refunded(_)
            | Self::Lapsed(_) => false,
        }
    }

    /// The [headlines](Self::headline) of the states in which an order is examined at once
    /// when its worker dies: money may have moved, and the payer waits for an answer. Stores
    /// put this list into their queries and indexes.
    // mutant: dead-workers-ignored
    pub const RECOVERED_AT_ONCE: &[&str] = &["settling", "unconfirmed", "submitting"];

    /// The [headline](Self::headline) of an order whose card was refused.
    pub const REFUSED_CARD: &str = "unfulfilled_refused";

    pub fn is_recovered_at_once(&self) -> bool {
        Self::RECOVERED_AT_ONCE.contains(&self.headline())
    }

    /// Whether the next step with this order is to ask the provider about its card.
    pub(crate) fn is_card_lookup(&self) -> bool {
        match self {
            Self::Submitting(_) | Self::Mailed(_) => true,
            Self::Unfulfilled(order) => match order.state.shortfall {
                Shortfall::Lost(_) | Shortfall::Undelivered(_) | Shortfall::Erased(_) => true,
                Shortfall::Refused(_) => false,
            },
            Self::Offered(_)
            | Self::Settling(_)
            | Self::Unconfirmed(_)
            | Self::Refunded(_)
            | Self::Lapsed(_) => false,
        }
    }

    /// Whether something is still to be done before money and card are at rest.
    #[cfg(any(test, feature = "fakes"))]
    pub(crate) fn is_open(&self) -> bool {
        let unfinished = match self {
            Self::Mailed(order) => {
                order.state.paid.standing == super::states::Standing::Provisional
            }
            Self::Unfulfilled(order) => {
                !matches!(order.state.shortfall, Shortfall::Undelivered(_) | Shortfall::Erased(_))
            }
            Self::Offered(_)
            | Self::Settling(_)
            | Self::Unconfirmed(_)
            | Self::Submitting(_)
            | Self::Refunded(_)
            | Self::Lapsed(_) => true,
        };
        self.attention().due.is_some() && unfinished
    }

    /// The provider account that the card was submitted to, if it was.
    pub fn submitted_to(&self) -> Option<&ProviderAccount> {
        match self {
            Self::Submitting(order) => order.state.submitted_to.as_ref(),
            Self::Unfulfilled(order) => match &order.state.shortfall {
                Shortfall::Refused(was) | Shortfall::Lost(was) => was.submitted_to.as_ref(),
                Shortfall::Undelivered(was) => was.submitted_to.as_ref(),
                Shortfall::Erased(was) => was.submitted_to.as_ref(),
            },
            Self::Mailed(order) => order.state.submitted_to.as_ref(),
            Self::Offered(_)
            | Self::Settling(_)
            | Self::Unconfirmed(_)
            | Self::Refunded(_)
            | Self::Lapsed(_) => None,
        }
    }

    /// The card that the provider accepted, also if it will not arrive.
    pub fn mailed(&self) -> Option<&Mailed> {
        match self {
            Self::Mailed(order) => Some(&order.state),
            Self::Unfulfilled(order) => match &order.state.shortfall {
                Shortfall::Undelivered(mailed) => Some(mailed),
                Shortfall::Refused(_) | Shortfall::Lost(_) | Shortfall::Erased(_) => None,
            },
            Self::Offered(_)
            | Self::Settling(_)
            | Self::Unconfirmed(_)
            | Self::Submitting(_)
            | Self::Refunded(_)
            | Self::Lapsed(_) => None,
        }
    }

    /// The money of the order, once it has moved.
    pub fn paid(&self) -> Option<&Paid> {
        match self {
            Self::Offered(_) | Self::Settling(_) | Self::Unconfirmed(_) | Self::Lapsed(_) => None,
            Self::Submitting(order) => Some(&order.state.paid),
            Self::Unfulfilled(order) => Some(order.state.shortfall.paid()),
            Self::Mailed(order) => Some(&order.state.paid),
            Self::Refunded(order) => Some(&order.state.paid),
        }
    }

    /// The payment that is in play or was made, if there is one.
    pub fn payment(&self) -> Option<&Payment> {
        match self {
            Self::Offered(_) | Self::Lapsed(_) => None,
            Self::Settling(order) => Some(&order.state.payment),
            Self::Unconfirmed(order) => Some(&order.state.was.payment),
            Self::Submitting(_) | Self::Unfulfilled(_) | Self::Mailed(_) | Self::Refunded(_) => {
                self.paid().map(|paid| &paid.payment)
            }
        }
    }

    /// The keys that must belong to this order alone from now on.
    pub fn payment_keys(&self) -> &[PaymentKey] {
        // mutant: no-payment-key
        self.payment().map_or(&[], |payment| &payment.authorization.keys)
    }

    /// A finished automatic identity is free again after a while, and so is an identifier
    /// of the caller's own that has lapsed. One that was paid for stays what it was.
    pub fn succession(&self, now: Timestamp) -> Succession {
        let rested = now.since(self.updated_at()).is_some_and(|age| age > IDENTITY_SECONDS);
        let free = match (self, self.operation().origin) {
            (Self::Lapsed(_), Origin::Automatic | Origin::Explicit)
            | (Self::Mailed(_) | Self::Refunded(_), Origin::Automatic) => rested,
            (Self::Mailed(_) | Self::Refunded(_), Origin::Explicit) => false,
            // mutant: lapse-while-settling
            (
                Self::Offered(_)
                | Self::Settling(_)
                | Self::Unconfirmed(_)
                | Self::Submitting(_)
                | Self::Unfulfilled(_),
                Origin::Automatic | Origin::Explicit,
            ) => false,
        };
        if free { Succession::Next } else { Succession::Stays }
    }
}
