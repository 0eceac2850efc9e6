//! What a payer is asked for.

use crate::ids::OrderId;
use crate::money::Price;
use crate::seller::Payees;

/// An order, and what has to be paid for it, and to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub order: OrderId,
    pub price: Price,
    pub payees: Payees,
}
