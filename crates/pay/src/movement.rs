//! What became of money on a chain, in the words that every way of paying shares.

use order::model::ids::Timestamp;
use order::model::payment::Finality;

/// Money that certainly went from the payer to the seller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// `0x` and 64 digits.
    pub transaction: String,
    pub at: Timestamp,
    pub finality: Finality,
}

/// What became of money that was asked for; see [`order::model::payment::Trace`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Movement {
    Moved(Moved),
    Open,
    Void,
}
