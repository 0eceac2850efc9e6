//! Counts what meets the orders of the fake world, by their states.

use std::cell::Cell;

use super::coverage::Incident;
use super::world::FakeWorld;
use crate::lifecycle::Stored;
use crate::model::ids::{OperationKey, OrderId};

thread_local! {
    /// The operation of the request whose task runs now.
    static OPERATION: Cell<Option<OperationKey>> = const { Cell::new(None) };
}

/// Runs a step of a request for this operation, so that its calls are counted for its order.
pub(super) fn within<T>(operation: OperationKey, step: impl FnOnce() -> T) -> T {
    OPERATION.set(Some(operation));
    let result = step();
    OPERATION.set(None);
    result
}

impl FakeWorld {
    /// Counts an incident of one order, or of an order that has no row yet.
    pub(super) fn count(&self, call: &'static str, outcome: &'static str, order: Option<OrderId>) {
        let state = order.map_or("offered", |order| self.store.headline(order));
        self.incidents.lock().unwrap().add(Incident { call, outcome, state }, 1);
    }

    /// Counts something that meets all orders with a row, or those that `chosen` admits.
    pub fn count_for(
        &self,
        call: &'static str,
        outcome: &'static str,
        chosen: impl Fn(&Stored) -> bool,
    ) {
        for order in self.store.orders().iter().filter(|order| chosen(order)) {
            self.count(call, outcome, Some(order.id()));
        }
    }

    /// The order of the request whose task runs now.
    pub(super) fn requested_order(&self) -> Option<OrderId> {
        self.store.newest_id(&OPERATION.get()?)
    }

    /// Counts something that a payer does about an operation.
    pub fn count_request(&self, outcome: &'static str, operation: &OperationKey) {
        self.count("payer", outcome, self.store.newest_id(operation));
    }
}
