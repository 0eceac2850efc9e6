//! Which order answers for a request: the one that is there, its successor, or a new one.

use std::ops::ControlFlow;

use super::{Desk, trouble};
use crate::event::Actor;
use crate::identity::Operation;
use crate::ids::Timestamp;
use crate::lifecycle::{Order, Stored, Succession};
use crate::refusal::Refusal;
use crate::seller::Payees;

impl Desk {
    /// Finds the order that answers for this operation, or makes an offer.
    pub(super) async fn open(
        &self,
        operation: Operation,
        payees: &Result<Payees, Refusal>,
    ) -> Result<Stored, Refusal> {
        let now = self.clock.now();
        let newest = self.store.newest(&operation.key).await.map_err(trouble)?;
        let generation = match newest.map(|order| Box::pin(self.succession(order, now))) {
            None => 0,
            Some(succession) => match succession.await? {
                ControlFlow::Continue(generation) => generation,
                ControlFlow::Break(order) => return same_request(order, &operation),
            },
        };
        let operation = Operation { generation, ..operation };
        let id = self.identity.order_id(&operation);
        let payees = payees.as_ref().map_err(Refusal::clone)?.digest();
        let fresh = Order::offer(id, operation.clone(), payees, now);
        same_request(self.store.offer(fresh).await.map_err(trouble)?, &operation)
    }

    /// The generation after this order, unless it still answers for its operation.
    async fn succession(
        &self,
        order: Stored,
        now: Timestamp,
    ) -> Result<ControlFlow<Stored, u32>, Refusal> {
        let order = if let Stored::Offered(offer) = &order
            && offer.expires_at <= now
        {
            self.record(offer.clone().lapse(now), &Actor::Desk).await?.into()
        } else {
            order
        };
        Ok(match order.succession(now) {
            Succession::Stays => ControlFlow::Break(order),
            Succession::Next => {
                ControlFlow::Continue(order.operation().generation.saturating_add(1))
            }
        })
    }
}

/// The same identifier must not come with another card. What has lapsed is
/// answered as lapsed, whatever came with it.
fn same_request(order: Stored, operation: &Operation) -> Result<Stored, Refusal> {
    let lapsed = matches!(order, Stored::Lapsed(_));
    if lapsed || order.operation().is_same_request(operation) {
        Ok(order)
    } else {
        Err(Refusal::DifferentRequest(order.id()))
    }
}
