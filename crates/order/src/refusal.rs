//! Why a request is answered with no.

use crate::model::card::FieldFault;
use crate::model::ids::OrderId;
use crate::model::offer::Offer;

/// Every reason the desk has for saying no, in the desk's own words.
///
/// HTTP statuses are not chosen here: each envelope dresses a refusal in its
/// protocol's clothes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    // The caller's turn.
    /// All faulty fields at once.
    CardInvalid(Vec<FieldFault>),
    IdentifierInvalid,
    SellerNameInvalid,
    /// The same identifier came with another card before.
    DifferentRequest(OrderId),
    /// The identifier that the payment itself carries came with another card before.
    PaymentIdentifierUsed(OrderId),
    /// The identifier's offer ran out; a new one is needed.
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

    // Wait, or look at the order.
    /// Another payment for the same operation is in play or in doubt.
    PaymentInPlay(OrderId),
    /// This very payment is in doubt. The same request may be sent again.
    PaymentUnconfirmed(OrderId),
    /// The same operation is being worked on and nothing is settled yet.
    InProgress(OrderId),
    /// Paid, and what became of the card is being found out.
    SubmissionUnresolved(OrderId),
    SellerAddressChanged(OrderId),
    PriceAboveCeiling(OrderId),

    /// This payer had prices asked for and paid for none of them. Others are not affected.
    QuoteLimit(OrderId),

    // The world's turn.
    SellerNotEnabled,
    SellerUnresolved,
    NameServiceFailed,
    ProviderUnreachable,
    ProviderUnusable,
    /// Our account with the provider is refused or its rate is used up.
    ProviderUnavailable,
    /// Whoever checks or carries payments cannot be reached.
    PaymentUnavailable,

    // Ours.
    StoreBusy,
    Internal,

    /// One of those that name no order, of an order that exists.
    AboutOrder(OrderId, Box<Refusal>),
}

impl Refusal {
    /// Names the order that a failure outside or of ours concerns, where it names none yet.
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
            | Self::SellerNameInvalid
            | Self::DifferentRequest(_)
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
            | Self::QuoteLimit(_)
            | Self::SellerNotEnabled
            | Self::SellerUnresolved
            | Self::NameServiceFailed
            | Self::AboutOrder(..) => self,
        }
    }
}
