//! Value types of the provider's interface: quotes, mailpieces, delivery.

use crate::model::ids::{OrderId, Timestamp};
use crate::model::money::Cents;

/// The provider's total for a card. Never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderQuote {
    total: Cents,
}

impl ProviderQuote {
    /// None for a total of zero: that is a mistake of the provider, and no basis for a charge.
    pub fn new(total: Cents) -> Option<Self> {
        (total.0 > 0).then_some(Self { total })
    }

    pub const fn total(self) -> Cents {
        self.total
    }
}

/// The provider and the account that is used with it. Contains no secret.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProviderAccount(pub String);

impl ProviderAccount {
    /// The last part, which distinguishes the accounts with one provider.
    pub fn name(&self) -> &str {
        self.0.rsplit(' ').next().unwrap_or_default()
    }
}

/// The provider's id of a card that it has accepted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mailpiece(pub String);

/// A card as the provider's list has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedCard {
    pub mailpiece: Mailpiece,
    /// The order that it carries as its reference.
    pub order: Option<OrderId>,
    pub at: Timestamp,
    /// None if the list has no totals.
    pub total: Option<Cents>,
}

/// Pictures of both sides of a card. Nothing is mailed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    pub urls: Vec<String>,
}

/// How far a card has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub stage: Stage,
    pub at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The provider has it and has not printed it yet.
    Accepted,
    /// Printed, or with the post.
    Mailed,
    Delivered,
    Returned,
    /// The provider gave up: an undeliverable address, or cancelled at the provider.
    Failed,
}

impl Stage {
    /// Whether nothing more will happen to the card.
    pub const fn is_last(self) -> bool {
        match self {
            Self::Delivered | Self::Returned | Self::Failed => true,
            Self::Accepted | Self::Mailed => false,
        }
    }
}

/// The result of a cancellation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancellation {
    Cancelled,
    TooLate,
}

/// What a provider guarantees, which decides how an order is recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promises {
    /// For so many seconds, two submissions of the same order mail one card, once the first
    /// has become visible.
    pub idempotent_seconds: Option<u64>,
    /// For so many seconds a card can be cancelled.
    pub cancel_seconds: u64,
    /// A card that was accepted is found by its reference after so many seconds.
    pub visibility_lag_seconds: u64,
}

impl Promises {
    /// Added to the visibility lag: the time-out of a submission and a margin.
    const GRACE_SECONDS: u64 = 180;

    /// A card that is not found so many seconds after its submission began was not accepted.
    pub const fn grace_seconds(self) -> u64 {
        self.visibility_lag_seconds + Self::GRACE_SECONDS
    }
}
