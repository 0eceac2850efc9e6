//! What a payer is asked for.

use crate::model::ids::OrderId;
use crate::model::money::Price;
use crate::model::seller::Payees;

/// An order, and what has to be paid for it, and to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub order: OrderId,
    pub price: Price,
    pub payees: Payees,
}
