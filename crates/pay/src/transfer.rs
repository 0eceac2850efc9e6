//! What a chain says about a transfer, the same for both protocols.

use order::model::ids::Timestamp;
use order::model::payment::{Finality, Trace};

/// A transfer from the payer to the seller that certainly happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfirmedTransfer {
    /// `0x` and 64 digits.
    pub transaction: String,
    pub at: Timestamp,
    pub finality: Finality,
}

/// What became of a settlement, before its receipt is made.
pub type TransferStatus = Trace<ConfirmedTransfer>;
