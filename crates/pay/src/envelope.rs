//! The one table from the desk's refusals to HTTP: status, code and what to do next.

use http::{HeaderMap, StatusCode};
use order::checkout::Outcome;
use order::model::ids::{OrderId, Timestamp};
use order::model::payment::Credential;
use order::refusal::Refusal;
use order::tender::Tender;

/// The paper side of a way of paying: which headers carry what.
pub trait Envelope: Tender {
    /// Takes the credential out of a request, still sealed, and what else its
    /// headers say. A credential may be bound to the body that it came with.
    fn open(&self, headers: &HeaderMap, body: &[u8]) -> Result<Opened, Muddle>;

    /// Puts what the desk said into an answer. The body of a challenge for a
    /// person is the caller's to write.
    fn seal(&self, said: &Result<Outcome, Refusal>, context: &Context<'_>) -> Sealed;

    /// The answer to a request that never came before the desk.
    fn turn_away(&self, muddle: &Muddle) -> Sealed;
}

/// What a request's headers say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    pub credential: Option<Credential>,
    pub reader: Reader,
}

/// Who waits for the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    Program,
    /// A person at a browser, who wants a page.
    Person,
}

/// A request that contradicts itself or does not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Muddle {
    pub status: StatusCode,
    pub code: &'static str,
    /// For the caller: what is wrong, and what to send instead.
    pub message: &'static str,
}

impl Muddle {
    /// Headers that contradict each other or themselves.
    pub const fn of_headers(code: &'static str, message: &'static str) -> Self {
        Self { status: StatusCode::BAD_REQUEST, code, message }
    }
}

/// What an answer needs to know beside what the desk said.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    pub reader: Reader,
    /// The request brought a credential.
    pub brought: Brought,
    /// The body of the request, byte for byte: a challenge may be bound to it.
    pub body: &'a [u8],
    pub now: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brought {
    Nothing,
    Credential,
}

/// Room for every header of an answer, the door's own too, so that the map need not grow.
pub(crate) const HEADERS: usize = 12;

/// An answer in HTTP's words, ready to send.
#[derive(Clone, Debug)]
pub struct Sealed {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// What a caller may do after a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Send the same request again, later.
    Same,
    /// This request will not get better by repetition.
    Never,
    /// Nothing moved: sign a new payment.
    NewPayment,
}

impl Retry {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Never => "never",
            Self::NewPayment => "new_payment",
        }
    }
}

/// A refusal in HTTP's words. An envelope adds dress, never another status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub status: StatusCode,
    pub code: &'static str,
    pub retry: Retry,
    pub message: &'static str,
    pub order: Option<OrderId>,
}

/// Every refusal, judged once for both ways of paying.
pub fn verdict(refusal: &Refusal) -> Verdict {
    Verdict {
        status: status(refusal),
        code: code(refusal),
        retry: retry(refusal),
        message: message(refusal),
        order: order(refusal),
    }
}

/// 402 invites payment: only what certainly moved nothing may be in its line.
fn status(refusal: &Refusal) -> StatusCode {
    match refusal {
        Refusal::CardInvalid(_) | Refusal::IdentifierInvalid | Refusal::SellerNameInvalid => {
            StatusCode::BAD_REQUEST
        }
        Refusal::CredentialInvalid { .. } | Refusal::PaymentDeclined { .. } => {
            StatusCode::PAYMENT_REQUIRED
        }
        Refusal::SellerNotEnabled => StatusCode::FORBIDDEN,
        Refusal::SellerUnresolved => StatusCode::NOT_FOUND,
        Refusal::DifferentRequest(_)
        | Refusal::PaymentIdentifierUsed(_)
        | Refusal::PaymentBoundElsewhere
        | Refusal::PaymentInPlay(_)
        | Refusal::InProgress(_)
        | Refusal::SellerAddressChanged(_)
        | Refusal::PriceAboveCeiling(_) => StatusCode::CONFLICT,
        Refusal::OperationLapsed(_) => StatusCode::GONE,
        Refusal::AllowanceRequired(_) => StatusCode::PRECONDITION_FAILED,
        Refusal::NameServiceFailed | Refusal::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        Refusal::PaymentUnconfirmed(_)
        | Refusal::ProviderUnreachable
        | Refusal::ProviderUnusable => StatusCode::BAD_GATEWAY,
        Refusal::SubmissionUnresolved(_)
        | Refusal::QuoteLimit(_)
        | Refusal::ProviderUnavailable
        | Refusal::PaymentUnavailable
        | Refusal::StoreBusy => StatusCode::SERVICE_UNAVAILABLE,
        Refusal::AboutOrder(_, cause) => status(cause),
    }
}

fn code(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::CardInvalid(_) | Refusal::SellerNameInvalid => "invalid_postcard",
        Refusal::IdentifierInvalid => "invalid_payment_identifier",
        Refusal::CredentialInvalid { .. } => "payment_invalid",
        Refusal::PaymentDeclined { .. } => "settlement_failed",
        Refusal::SellerNotEnabled => "seller_not_enabled",
        Refusal::SellerUnresolved => "seller_not_resolved",
        Refusal::DifferentRequest(_) => "idempotency_conflict",
        Refusal::PaymentIdentifierUsed(_) => "payment_identifier_conflict",
        Refusal::PaymentBoundElsewhere => "payment_bound_elsewhere",
        Refusal::PaymentInPlay(_) => "reconciliation_conflict",
        Refusal::InProgress(_) => "order_state_conflict",
        Refusal::SellerAddressChanged(_) => "seller_address_changed",
        Refusal::PriceAboveCeiling(_) => "price_conflict",
        Refusal::OperationLapsed(_) => "operation_expired",
        Refusal::AllowanceRequired(_) => "permit2_allowance_required",
        Refusal::PaymentUnconfirmed(_) => "settlement_unconfirmed",
        Refusal::SubmissionUnresolved(_) => "submission_unresolved",
        Refusal::ProviderUnreachable => "provider_unreachable",
        Refusal::ProviderUnusable => "provider_invalid_response",
        Refusal::ProviderUnavailable => "provider_unavailable",
        Refusal::PaymentUnavailable => "payment_unavailable",
        Refusal::QuoteLimit(_) => "rate_limited",
        Refusal::StoreBusy => "storage_busy",
        Refusal::NameServiceFailed | Refusal::Internal => "internal_error",
        Refusal::AboutOrder(_, cause) => code(cause),
    }
}

fn retry(refusal: &Refusal) -> Retry {
    match refusal {
        Refusal::CardInvalid(_)
        | Refusal::IdentifierInvalid
        | Refusal::SellerNameInvalid
        | Refusal::SellerNotEnabled
        | Refusal::SellerUnresolved
        | Refusal::DifferentRequest(_)
        | Refusal::PaymentIdentifierUsed(_)
        | Refusal::PaymentBoundElsewhere
        | Refusal::PriceAboveCeiling(_)
        | Refusal::OperationLapsed(_) => Retry::Never,
        Refusal::CredentialInvalid { .. }
        | Refusal::PaymentDeclined { .. }
        | Refusal::SellerAddressChanged(_) => Retry::NewPayment,
        // Nothing was spent: once the allowance is given, the same credential pays.
        Refusal::AllowanceRequired(_)
        | Refusal::PaymentInPlay(_)
        | Refusal::InProgress(_)
        | Refusal::PaymentUnconfirmed(_)
        | Refusal::SubmissionUnresolved(_)
        | Refusal::QuoteLimit(_)
        | Refusal::NameServiceFailed
        | Refusal::ProviderUnreachable
        | Refusal::ProviderUnusable
        | Refusal::ProviderUnavailable
        | Refusal::PaymentUnavailable
        | Refusal::StoreBusy
        | Refusal::Internal => Retry::Same,
        Refusal::AboutOrder(_, cause) => retry(cause),
    }
}

fn message(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::CardInvalid(_) => "The postcard has faulty fields; each is named below.",
        Refusal::IdentifierInvalid => {
            "An operation identifier has 16 to 128 letters, digits, _ or -. Where the header and the \
             body both give one, they must be the same."
        }
        Refusal::SellerNameInvalid => "The seller is not a username.",
        Refusal::CredentialInvalid { .. } => {
            "The payment does not fit the challenge. Nothing moved."
        }
        Refusal::PaymentDeclined { .. } => "The payment did not go through. Nothing moved.",
        Refusal::SellerNotEnabled => "We do not mail cards for this seller.",
        Refusal::SellerUnresolved => "The seller's name has no address that can be paid.",
        Refusal::DifferentRequest(_) => "This identifier was used for another postcard.",
        Refusal::PaymentIdentifierUsed(_) => {
            "The payment's identifier was used for another postcard. Pay for this one under an \
             identifier of its own."
        }
        Refusal::PaymentBoundElsewhere => {
            "This payment belongs to another order. Nothing moved for this card; ask for its \
             challenge and sign a payment of its own."
        }
        Refusal::PaymentInPlay(_) => {
            "A payment for this order is in doubt. Do not pay again; look at the order."
        }
        Refusal::InProgress(_) => "The same request is being worked on. Look at the order.",
        Refusal::SellerAddressChanged(_) => {
            "The seller's address has changed since. Nothing moved; ask for a new challenge."
        }
        Refusal::PriceAboveCeiling(_) => "This card costs more than 3.50 USDC. Nothing moved.",
        Refusal::OperationLapsed(_) => "This identifier has expired; use a new one.",
        Refusal::AllowanceRequired(_) => {
            "Permit2 may not move your USDC yet; error.allowance has the missing call of each \
             network. Make it, or sign the permit that replaces it, then send the same request \
             again."
        }
        Refusal::PaymentUnconfirmed(_) => {
            "We cannot tell yet whether the payment moved. Do not sign again; send the same request."
        }
        Refusal::SubmissionUnresolved(_) => "Paid; what became of the card is being found out.",
        Refusal::ProviderUnreachable => "The postcard provider does not answer. Nothing moved.",
        Refusal::ProviderUnusable => "The postcard provider's answer is unusable. Nothing moved.",
        Refusal::ProviderUnavailable => {
            "The postcard provider does not serve us at the moment. Nothing moved; send the same \
             request again later."
        }
        Refusal::PaymentUnavailable => {
            "Payments cannot be checked at the moment. This request moved nothing; send the same request, with \
             the same payment if it had one, again after some seconds."
        }
        Refusal::QuoteLimit(_) => {
            "This payer has asked for too many prices without paying. Nothing moved; send the same \
             request again in a minute."
        }
        Refusal::StoreBusy => "Storage is busy. Send the same request again.",
        Refusal::NameServiceFailed => "Names cannot be resolved now.",
        Refusal::Internal => "Something broke on our side.",
        Refusal::AboutOrder(_, cause) => message(cause),
    }
}

/// The order that a refusal is about, where the caller may know it.
fn order(refusal: &Refusal) -> Option<OrderId> {
    match refusal {
        Refusal::DifferentRequest(id)
        | Refusal::PaymentIdentifierUsed(id)
        | Refusal::OperationLapsed(id)
        | Refusal::PaymentInPlay(id)
        | Refusal::PaymentUnconfirmed(id)
        | Refusal::InProgress(id)
        | Refusal::SubmissionUnresolved(id)
        | Refusal::SellerAddressChanged(id)
        | Refusal::PriceAboveCeiling(id)
        | Refusal::QuoteLimit(id)
        | Refusal::AboutOrder(id, _) => Some(*id),
        Refusal::CredentialInvalid { offer, .. }
        | Refusal::PaymentDeclined { offer, .. }
        | Refusal::AllowanceRequired(offer) => Some(offer.order),
        Refusal::CardInvalid(_)
        | Refusal::IdentifierInvalid
        | Refusal::SellerNameInvalid
        | Refusal::PaymentBoundElsewhere
        | Refusal::SellerNotEnabled
        | Refusal::SellerUnresolved
        | Refusal::NameServiceFailed
        | Refusal::ProviderUnreachable
        | Refusal::ProviderUnusable
        | Refusal::ProviderUnavailable
        | Refusal::PaymentUnavailable
        | Refusal::StoreBusy
        | Refusal::Internal => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: OrderId = OrderId::from_bytes([7; 16]);

    #[test]
    fn nothing_that_is_paid_or_in_doubt_invites_payment() {
        for refusal in [
            Refusal::PaymentUnconfirmed(ID),
            Refusal::PaymentInPlay(ID),
            Refusal::InProgress(ID),
            Refusal::SubmissionUnresolved(ID),
            Refusal::StoreBusy,
            Refusal::Internal,
        ] {
            let verdict = verdict(&refusal);
            assert_ne!(verdict.status, StatusCode::PAYMENT_REQUIRED, "{refusal:?}");
            assert_ne!(verdict.status, StatusCode::PRECONDITION_FAILED, "{refusal:?}");
            assert_eq!(verdict.retry, Retry::Same, "{refusal:?}");
        }
    }

    #[test]
    fn the_statuses_are_those_of_the_contract() {
        let status = |refusal| verdict(&refusal).status.as_u16();
        assert_eq!(status(Refusal::CardInvalid(Vec::new())), 400);
        assert_eq!(status(Refusal::SellerNotEnabled), 403);
        assert_eq!(status(Refusal::SellerUnresolved), 404);
        assert_eq!(status(Refusal::PriceAboveCeiling(ID)), 409);
        assert_eq!(status(Refusal::OperationLapsed(ID)), 410);
        assert_eq!(status(Refusal::PaymentUnconfirmed(ID)), 502);
        assert_eq!(status(Refusal::ProviderUnusable), 502);
        assert_eq!(status(Refusal::StoreBusy), 503);
    }

    #[test]
    fn what_passes_is_told_as_passing_and_what_to_do_meanwhile() {
        for refusal in [Refusal::PaymentUnavailable, Refusal::ProviderUnavailable] {
            let Verdict { status, retry, message, .. } = verdict(&refusal);
            assert_eq!((status.as_u16(), retry), (503, Retry::Same), "{refusal:?}");
            for words in ["at the moment", "moved", "the same request", "again"] {
                assert!(message.contains(words), "{words} is not in: {message}");
            }
        }
    }

    #[test]
    fn an_order_that_exists_is_named_whatever_failed() {
        for cause in [
            Refusal::ProviderUnreachable,
            Refusal::ProviderUnusable,
            Refusal::ProviderUnavailable,
            Refusal::PaymentUnavailable,
            Refusal::StoreBusy,
            Refusal::Internal,
        ] {
            let named = verdict(&cause.clone().about(ID));
            assert_eq!(named, Verdict { order: Some(ID), ..verdict(&cause) });
        }
        // What names its order already, or concerns none, stays as it is.
        let priced = Refusal::PriceAboveCeiling(ID);
        assert_eq!(priced.clone().about(OrderId::from_bytes([8; 16])), priced);
        let bound = Refusal::PaymentBoundElsewhere;
        assert_eq!(bound.clone().about(ID), bound);
    }

    #[test]
    fn a_caller_is_told_the_order_but_never_somebody_elses() {
        assert_eq!(verdict(&Refusal::PaymentUnconfirmed(ID)).order, Some(ID));
        assert_eq!(verdict(&Refusal::PaymentBoundElsewhere).order, None);
    }
}
