//! Why an operator's action was rejected. Nothing was changed, unless a variant says so.

use std::fmt;

use crate::model::ids::Timestamp;
use crate::operator::transfers::TransferFault;
use crate::ports::StoreError;

/// Why an action was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ActionRejection {
    /// There is no order with this id for which a payment began.
    Unknown,
    /// The order was written since the operator saw it.
    Changed,
    /// The action does not apply to the order's state.
    NotPossible(&'static str),
    /// The provider may not list the card of the last attempt before this time.
    TooEarly(Timestamp),
    /// The provider did not answer the lookup.
    ProviderSilent,
    /// The provider has no card with this id for this order.
    NotOurCard,
    /// The payment of the order cannot be confirmed on the chain now.
    PaymentUnclear,
    /// The node did not answer.
    NodeSilent,
    /// The transaction does not prove the refund.
    NoRefund(TransferFault),
    /// The transaction belongs to another order.
    TransactionUsed,
    /// The store did not answer a read.
    StoreSilent,
    /// The order's row cannot be read.
    Unreadable,
    /// The store did not acknowledge the write. It may have been made.
    StoreBusy,
}

impl ActionRejection {
    pub const fn of_read(error: StoreError) -> Self {
        match error {
            StoreError::Corrupt => Self::Unreadable,
            StoreError::Moved | StoreError::PaymentBound | StoreError::Lost => Self::StoreSilent,
        }
    }

    pub(super) const fn of_write(error: StoreError) -> Self {
        match error {
            StoreError::Moved => Self::Changed,
            StoreError::PaymentBound => Self::TransactionUsed,
            StoreError::Lost | StoreError::Corrupt => Self::StoreBusy,
        }
    }

    /// Machine-readable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unknown => "unknown_order",
            Self::Changed => "order_changed",
            Self::NotPossible(_) => "not_possible",
            Self::TooEarly(_) => "too_early",
            Self::ProviderSilent => "provider_unreachable",
            Self::NotOurCard => "not_our_card",
            Self::PaymentUnclear => "payment_unclear",
            Self::NodeSilent => "node_unreachable",
            Self::NoRefund(_) => "refund_not_proved",
            Self::TransactionUsed => "transaction_used",
            Self::Unreadable => "unreadable_order",
            Self::StoreSilent | Self::StoreBusy => "storage_busy",
        }
    }
}

impl fmt::Display for ActionRejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "There is no order with this id for which a payment began.",
            Self::Changed => {
                "The order has changed since it was shown. Look at it again, then repeat the command."
            }
            Self::NotPossible(reason) => reason,
            Self::TooEarly(after) => {
                return write!(
                    f,
                    "The provider may not list the card of the last attempt yet. Nothing was changed. Resubmit it after {after}."
                );
            }
            Self::ProviderSilent => {
                "The provider did not answer, so it is not known whether the card exists. Nothing was changed. Try again later."
            }
            Self::NotOurCard => {
                "The provider has no card with this id that carries the order's reference. Nothing was changed."
            }
            Self::PaymentUnclear => {
                "The payment cannot be confirmed on the chain now. Nothing was changed. Try again later."
            }
            Self::NodeSilent => "The node did not answer. Nothing was changed. Try again later.",
            Self::NoRefund(fault) => return write!(f, "{fault} Nothing was changed."),
            Self::TransactionUsed => {
                "The transaction belongs to another order. Nothing was changed."
            }
            Self::StoreSilent => "The store did not answer. Nothing was changed. Try again later.",
            Self::Unreadable => {
                "The order's row cannot be read: it is damaged, or the key file lacks its key. The log names the column. Nothing was changed."
            }
            Self::StoreBusy => {
                "The store did not acknowledge the write. Look at the order again before you repeat the command."
            }
        })
    }
}
