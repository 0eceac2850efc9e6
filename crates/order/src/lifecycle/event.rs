//! What happened to an order, kept for ever and free of personal data.

use crate::lifecycle::Stored;
use crate::model::ids::{OrderId, Timestamp};

/// What changed an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// The request itself.
    Checkout,
    /// The reconciler.
    Reconciler,
    /// A person, by name.
    Operator(String),
}

impl Actor {
    pub fn name(&self) -> &str {
        match self {
            Self::Checkout => "checkout",
            Self::Reconciler => "reconciler",
            Self::Operator(name) => name,
        }
    }
}

/// One write of one order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub order: OrderId,
    /// The version that this write made.
    pub version: u64,
    pub at: Timestamp,
    pub actor: String,
    /// The state that the order came into.
    pub state: String,
    /// The evidence for it: a transaction, or the provider's id of the card.
    pub evidence: String,
}

impl Event {
    pub fn of(next: &Stored, version: u64, by: &Actor) -> Self {
        Self {
            order: next.id(),
            version,
            // Many writes change only when the order is examined next.
            at: next.updated_at().max(next.attention().planned),
            actor: by.name().to_owned(),
            state: next.headline().to_owned(),
            evidence: evidence(next),
        }
    }
}

fn evidence(next: &Stored) -> String {
    match next {
        Stored::Offered(_) | Stored::Lapsed(_) => String::new(),
        Stored::Settling(_) | Stored::Unconfirmed(_) => String::new(),
        Stored::Submitting(order) => order.state.paid.settlement.transaction.clone(),
        Stored::Unfulfilled(order) => order.state.shortfall.paid().settlement.transaction.clone(),
        Stored::Mailed(order) => order.state.mailpiece.0.clone(),
        Stored::Refunded(order) => order.state.refund.transaction.clone(),
    }
}
