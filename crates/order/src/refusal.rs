//! Why a request is refused.

use crate::model::card::FieldFault;
use crate::model::identity::quote::CardQuote;
use crate::model::ids::OrderId;
use crate::model::offer::Offer;
use crate::ports::{StoreError, Unanswered};

/// Every reason for which a request is refused, in domain terms. Statuses and error codes are
/// in the refusal table of the crate `pay`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    // The caller can correct these.
    /// All invalid fields.
    CardInvalid(Vec<FieldFault>),
    IdentifierInvalid,
    /// The quote that the request names is not one of ours, or is for another card.
    QuoteInvalid,
    /// The same identifier came with another card before, perhaps from another caller.
    DifferentRequest,
    /// The identifier that the payment itself carries came with another card before.
    PaymentIdentifierUsed(OrderId),
    /// The identifier has expired; a new one is needed.
    OperationLapsed(OrderId),
    CredentialInvalid {
        offer: Offer,
        reason: String,
    },
    AllowanceRequired(Offer),
    /// Nothing moved: the payer may try again.
    PaymentDeclined {
        offer: Offer,
        reason: String,
    },
    /// This authorization pays for something else.
    PaymentBoundElsewhere,

    // The caller waits, or reads the status of the order.
    /// Another payment for the same operation is in play or in doubt.
    PaymentInPlay(OrderId),
    /// This payment is in doubt. The same request may be sent again.
    PaymentUnconfirmed(OrderId),
    /// The same operation is being worked on and nothing is settled yet: no turn within the time
    /// that a request waits, or another request wrote the order first.
    InProgress(OrderId),
    /// Paid. The mailing status is being confirmed.
    SubmissionUnresolved(OrderId),
    /// The credential pays an account that the seller's name does not resolve to any more.
    SellerAddressChanged(OrderId),
    /// The card costs more than this protocol can charge. Nothing moved.
    PriceAboveCeiling(OrderId),
    /// The quote that the request names is too old. Nothing moved.
    QuoteExpired(OrderId),
    /// The charge would be higher than quoted. Nothing moved; the new quote may be accepted.
    QuoteExceeded {
        order: OrderId,
        quote: CardQuote,
    },

    /// This payer had prices asked for and paid for none of them. Others are not affected.
    QuoteLimit(OrderId),

    // An outside service failed, or the seller cannot be paid.
    SellerNotEnabled,
    SellerUnresolved,
    NameServiceFailed,
    ProviderUnreachable,
    ProviderUnusable,
    /// Our account with the provider is refused or its rate is used up.
    ProviderUnavailable,
    /// The node or facilitator does not answer.
    PaymentUnavailable,

    // This service failed.
    StoreBusy,
    Internal,

    /// A refusal without an order id, for an order that exists.
    AboutOrder(OrderId, Box<Refusal>),
}

impl Refusal {
    /// Adds the order id to a refusal that has none.
    #[must_use]
    pub fn about(self, order: OrderId) -> Self {
        match self {
            Self::ProviderUnreachable
            | Self::ProviderUnusable
            | Self::ProviderUnavailable
            | Self::PaymentUnavailable
            | Self::StoreBusy
            | Self::Internal => Self::AboutOrder(order, Box::new(self)),
            Self::CardInvalid(_)
            | Self::IdentifierInvalid
            | Self::QuoteInvalid
            | Self::DifferentRequest
            | Self::PaymentIdentifierUsed(_)
            | Self::OperationLapsed(_)
            | Self::CredentialInvalid { .. }
            | Self::AllowanceRequired(_)
            | Self::PaymentDeclined { .. }
            | Self::PaymentBoundElsewhere
            | Self::PaymentInPlay(_)
            | Self::PaymentUnconfirmed(_)
            | Self::InProgress(_)
            | Self::SubmissionUnresolved(_)
            | Self::SellerAddressChanged(_)
            | Self::PriceAboveCeiling(_)
            | Self::QuoteExpired(_)
            | Self::QuoteExceeded { .. }
            | Self::QuoteLimit(_)
            | Self::SellerNotEnabled
            | Self::SellerUnresolved
            | Self::NameServiceFailed
            | Self::AboutOrder(..) => self,
        }
    }
}

impl From<Unanswered> for Refusal {
    fn from(why: Unanswered) -> Self {
        match why {
            Unanswered::Unreachable => Self::ProviderUnreachable,
            Unanswered::Unusable => Self::ProviderUnusable,
            Unanswered::Unavailable => Self::ProviderUnavailable,
        }
    }
}

/// For reads. [`OrderWriter::record`](crate::writer::OrderWriter) tells a lost race apart.
impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Moved | StoreError::PaymentBound | StoreError::Corrupt => Self::Internal,
            StoreError::Lost => Self::StoreBusy,
        }
    }
}
