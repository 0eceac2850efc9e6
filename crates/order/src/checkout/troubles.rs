//! What others say when something does not work, as the desk's refusals.

use crate::model::offer::Offer;
use crate::ports::{StoreError, Unanswered};
use crate::refusal::Refusal;
use crate::tender::Rejection;

pub(super) fn rejected(offer: Offer, why: Rejection) -> Refusal {
    match why {
        Rejection::Invalid(reason) => Refusal::CredentialInvalid { offer, reason },
        Rejection::PayeeChanged => Refusal::SellerAddressChanged(offer.order),
        Rejection::AllowanceMissing => Refusal::AllowanceRequired(offer),
        Rejection::Unavailable => Refusal::PaymentUnavailable,
    }
}

pub(super) fn declined(offer: Offer, why: Rejection) -> Refusal {
    match why {
        Rejection::Invalid(reason) => Refusal::PaymentDeclined { offer, reason },
        Rejection::PayeeChanged => Refusal::SellerAddressChanged(offer.order),
        Rejection::AllowanceMissing => Refusal::AllowanceRequired(offer),
        Rejection::Unavailable => Refusal::PaymentUnavailable,
    }
}

pub(crate) fn unanswered(why: Unanswered) -> Refusal {
    match why {
        Unanswered::Unreachable => Refusal::ProviderUnreachable,
        Unanswered::Unusable => Refusal::ProviderUnusable,
        Unanswered::Unavailable => Refusal::ProviderUnavailable,
    }
}

pub(crate) fn trouble(error: StoreError) -> Refusal {
    match error {
        StoreError::Moved | StoreError::PaymentBound | StoreError::Corrupt => Refusal::Internal,
        StoreError::Busy => Refusal::StoreBusy,
    }
}
