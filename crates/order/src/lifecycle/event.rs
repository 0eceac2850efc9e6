//! What happened to an order, kept for ever and free of personal data.

use std::str::FromStr;

use crate::lifecycle::Stored;
use crate::model::ids::{OrderId, Timestamp};

/// What changed an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// The request itself.
    Checkout,
    /// The reconciler.
    Reconciler,
    /// A person.
    Operator(OperatorAction),
}

/// What an operator does to an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorAction {
    pub operator: OperatorName,
    /// The command's name.
    pub action: &'static str,
    /// The operator's own words. They must not contain personal data.
    pub note: String,
    pub at: Timestamp,
}

/// An operator's name, as events record it: 1 to 64 of `[A-Za-z0-9._@-]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorName(String);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAnOperatorName;

impl OperatorName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for OperatorName {
    type Err = NotAnOperatorName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._@-".contains(&byte);
        if (1..=64).contains(&text.len()) && text.bytes().all(allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAnOperatorName)
        }
    }
}

impl Actor {
    /// As events record it. No operator can be named like a part of the service.
    pub fn name(&self) -> String {
        match self {
            Self::Checkout => "checkout".to_owned(),
            Self::Reconciler => "reconciler".to_owned(),
            Self::Operator(by) => format!("operator:{}", by.operator.as_str()),
        }
    }

    /// When an operator acted. An action may change nothing else that has a time.
    fn at(&self) -> Timestamp {
        match self {
            Self::Checkout | Self::Reconciler => Timestamp(0),
            Self::Operator(by) => by.at,
        }
    }

    fn note(&self) -> String {
        match self {
            Self::Checkout | Self::Reconciler => String::new(),
            Self::Operator(by) if by.note.is_empty() => by.action.to_owned(),
            Self::Operator(by) => format!("{}: {}", by.action, by.note),
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
    /// What an operator did and why. Empty for the service's own writes.
    pub note: String,
}

impl Event {
    pub fn of(next: &Stored, version: u64, by: &Actor) -> Self {
        Self {
            order: next.id(),
            version,
            // Many writes change only when the order is examined next.
            at: next.updated_at().max(next.attention().planned).max(by.at()),
            actor: by.name(),
            state: next.headline().to_owned(),
            evidence: evidence(next),
            note: by.note(),
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
