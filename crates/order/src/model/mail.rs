//! What the provider tells us.

use crate::model::ids::Timestamp;
use crate::model::money::Cents;

/// The provider's word on what a card will cost. Never nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderQuote {
    total: Cents,
}

impl ProviderQuote {
    /// None for a total of zero: a provider that asks for nothing has made a
    /// mistake, and we do not build a charge on it.
    pub fn new(total: Cents) -> Option<Self> {
        (total.0 > 0).then_some(Self { total })
    }

    pub const fn total(self) -> Cents {
        self.total
    }
}

/// Which provider prints for us, under which account. Free of secrets.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProviderAccount(pub String);

impl ProviderAccount {
    /// The last part, which tells the accounts with one provider apart.
    pub fn name(&self) -> &str {
        self.0.rsplit(' ').next().unwrap_or_default()
    }
}

/// The provider's name for a card that it has accepted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mailpiece(pub String);

/// Pictures of both sides of a card that nobody has mailed.
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
    /// The provider gave up: a bad address, or it was cancelled over there.
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

/// What became of our wish to stop a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cancellation {
    Cancelled,
    TooLate,
}

/// What a provider promises beyond taking cards, which decides how we recover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promises {
    /// For so many seconds, handing in the same order twice mails one card,
    /// once the first has become visible.
    pub idempotent_seconds: Option<u64>,
    /// For so many seconds a card can be cancelled.
    pub cancel_seconds: u64,
    /// A card that was accepted is found by its reference after so many seconds.
    pub visibility_lag_seconds: u64,
}
