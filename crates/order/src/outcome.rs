//! What a request for a card ends with when it is not refused.

use crate::model::ids::OrderId;
use crate::model::offer::Offer;
use crate::model::payment::Settlement;

/// The result of a request that was not refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Payment is required.
    Due(Offer),
    /// Paid, now or earlier.
    Paid { order: OrderId, settlement: Settlement, fulfilment: Fulfilment, paid: When },
}

/// Whether the card of a paid order is known to be with the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fulfilment {
    Submitted,
    NeedsReconciliation,
}

/// When the money moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// In this request.
    Now,
    /// Earlier. This request had the same credential, another one or none.
    Earlier,
}
