//! What an operator can see and do: orders, the actions on one order, and the audit.
//!
//! An action names the version of the order that the operator saw, and is rejected if the order
//! was written since. It appends an event with the operator's name.

use std::sync::Arc;

use crate::lifecycle::event::{Actor, OperatorAction, OperatorName};
use crate::lifecycle::{Order, Stored};
use crate::model::ids::{OrderId, Timestamp};
use crate::operator::rejection::ActionRejection;
use crate::operator::transfers::UsdcTransfers;
use crate::tender::Tenders;
use crate::writer::OrderWriter;

pub mod audit;
mod card;
pub mod evidence;
pub mod filter;
mod note;
pub mod page;
mod refund;
pub mod rejection;
pub mod transfers;

/// Acts on orders for operators.
pub struct OperatorActions {
    pub writer: Arc<OrderWriter>,
    pub tenders: Tenders,
    pub transfers: Arc<dyn UsdcTransfers>,
}

/// Which order an operator acts on, as they saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    pub order: OrderId,
    /// The version that the operator saw.
    pub version: u64,
    pub operator: OperatorName,
    /// Why, in the operator's own words.
    pub note: String,
}

/// What an action has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionOutcome {
    /// The provider has the card. It was found there, or named by the operator.
    CardFound,
    /// The card was submitted, and the provider has accepted it.
    Submitted,
    /// The card was submitted, and the provider refused it or its answer was lost.
    SubmissionFailed,
    Refunded,
    Acknowledged,
    Erased,
}

impl OperatorActions {
    /// The order as the operator saw it.
    async fn load(&self, instruction: &Instruction) -> Result<Stored, ActionRejection> {
        let order = self.find(instruction.order).await?;
        // mutant: operator-version-ignored
        if order.version() == instruction.version {
            Ok(order)
        } else {
            Err(ActionRejection::Changed)
        }
    }

    async fn find(&self, order: OrderId) -> Result<Stored, ActionRejection> {
        let found = self.writer.store.find(order).await.map_err(ActionRejection::of_read)?;
        found.ok_or(ActionRejection::Unknown)
    }

    async fn record<S>(&self, order: Order<S>, by: &Actor) -> Result<Order<S>, ActionRejection>
    where
        S: Clone,
        Stored: From<Order<S>>,
    {
        self.writer.write(order, by).await.map_err(ActionRejection::of_write)
    }
}

impl Instruction {
    fn by(&self, action: &'static str, at: Timestamp) -> Actor {
        let (operator, note) = (self.operator.clone(), self.note.clone());
        Actor::Operator(OperatorAction { operator, action, note, at })
    }
}

#[cfg(test)]
mod tests;
