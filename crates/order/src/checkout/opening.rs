//! Which order answers for a request: the one that is there, its successor, or a new one.
//!
//! An order id is derived from the request, so an offer needs no row: the same request gets
//! the same id in any process, until its order ended 30 days ago. Only an identifier of the caller's own is written
//! down at its first use, since it can expire, and come with another card.

use std::ops::ControlFlow;

use super::Checkout;
use crate::lifecycle::{Order, Stored, Succession};
use crate::model::identity::{Operation, Origin};
use crate::model::ids::Timestamp;
use crate::model::seller::Payees;
use crate::refusal::Refusal;

impl Checkout {
    /// Finds the order that answers for this operation, or makes an offer.
    pub(super) async fn open(
        &self,
        operation: Operation,
        payees: &Result<Payees, Refusal>,
    ) -> Result<Stored, Refusal> {
        let now = self.writer.clock.now();
        let newest = self.writer.store.newest(&operation.key).await?;
        let generation = match newest.map(|order| succession(order, now)) {
            None => 0,
            Some(ControlFlow::Continue(generation)) => generation,
            Some(ControlFlow::Break(order)) => return same_request(order, &operation),
        };
        payees.as_ref().map_err(Refusal::clone)?;
        let operation = Operation { generation, ..operation };
        let fresh = Order::offer(self.identity.order_id(&operation), operation.clone(), now);
        match operation.origin {
            // mutant: identifier-without-a-row
            Origin::Automatic => Ok(fresh.into()),
            Origin::Explicit => same_request(self.writer.store.offer(fresh).await?, &operation),
        }
    }
}

/// The generation after this order, unless it still answers for its operation.
fn succession(order: Stored, now: Timestamp) -> ControlFlow<Stored, u32> {
    let order = order.at(now);
    match order.succession(now) {
        Succession::Stays => ControlFlow::Break(order),
        Succession::Next => ControlFlow::Continue(order.operation().generation.saturating_add(1)),
    }
}

/// The same identifier must not come with another card. What has lapsed is
/// answered as lapsed, whatever came with it.
fn same_request(order: Stored, operation: &Operation) -> Result<Stored, Refusal> {
    let lapsed = matches!(order, Stored::Lapsed(_));
    if lapsed || order.operation().is_same_request(operation) {
        Ok(order)
    } else {
        Err(Refusal::DifferentRequest)
    }
}
