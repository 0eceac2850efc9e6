//! An offer: the order, its price and its payees.

use crate::model::ids::OrderId;
use crate::model::money::Price;
use crate::model::seller::Payees;

/// An order that can be paid, with its price and its payees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub order: OrderId,
    pub price: Price,
    pub payees: Payees,
}
