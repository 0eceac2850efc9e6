//! The data of an order in each of its states.

use crate::model::card::Postcard;
use crate::model::country::CountryCode;
use crate::model::ids::Timestamp;
use crate::model::mail::{Delivery, Mailpiece, ProviderAccount, ProviderQuote};
use crate::model::money::Usdc;
use crate::model::payment::{Finality, Payment, Settlement};

/// Nothing is paid, and no personal data is stored. Only an offer under the caller's own identifier,
/// and one whose payment was declined or taken back by the chain, has a row in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offered;

/// The settlement is in flight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settling {
    pub card: Postcard,
    pub quote: ProviderQuote,
    pub payment: Payment,
}

/// It is not known whether the money moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unconfirmed {
    pub was: Settling,
}

/// Money that moved, as far as we know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paid {
    pub quote: ProviderQuote,
    pub payment: Payment,
    pub settlement: Settlement,
    pub standing: Standing,
    /// Where the card goes to. Stays when the card is deleted, for the operator's reports.
    pub country: CountryCode,
}

/// How final a payment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The chain may still be reorganised.
    Provisional,
    Final,
    /// The chain was reorganised without the payment, and the card could not be cancelled. This
    /// is a loss, and an alert.
    Reversed,
}

/// The money has moved, and the submission of the card is in flight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submitting {
    pub card: Postcard,
    pub paid: Paid,
    pub attempt: u32,
    /// When the first attempt began.
    pub since: Timestamp,
    /// When the last attempt began.
    pub attempted_at: Timestamp,
    pub doubt: Doubt,
    /// The provider account that the card was submitted to. None before the submission.
    pub submitted_to: Option<ProviderAccount>,
}

/// Whether an earlier attempt may have mailed the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Every earlier attempt is known to have been refused.
    None,
    /// The answer to one was lost.
    Earlier,
}

/// The money has moved and no card is known to be mailed. A card or a refund is owed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfulfilled {
    pub shortfall: Shortfall,
}

/// Why a paid card is not known to be mailed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shortfall {
    /// The provider refused the card. It may be submitted again.
    Refused(Submitting),
    /// The provider's answer was lost. Only a card that is found, a provider that guarantees to
    /// mail once, or a person may change this order.
    Lost(Submitting),
    /// It was accepted and will not arrive. Its text is deleted; a refund is due.
    Undelivered(Mailed),
    /// An operator has decided that it will not be mailed. Its text is deleted; a refund is due.
    Erased(Erased),
}

/// A paid card that will not be mailed, without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Erased {
    pub paid: Paid,
    /// The provider account that it was submitted to, where it may still turn up.
    pub submitted_to: Option<ProviderAccount>,
}

/// How a submission failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setback {
    Refused,
    Lost,
}

/// The provider has the card. Its text is deleted here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mailed {
    pub paid: Paid,
    pub mailpiece: Mailpiece,
    pub mailed_at: Timestamp,
    pub delivery: Delivery,
    /// The provider account that has it.
    pub submitted_to: Option<ProviderAccount>,
}

/// The money was returned to the payer, as checked on the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refunded {
    pub paid: Paid,
    pub refund: Refund,
    /// The card, if the provider had accepted it.
    pub mailpiece: Option<Mailpiece>,
}

/// Proof of a refund.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refund {
    pub transaction: String,
    pub amount: Usdc,
    pub at: Timestamp,
}

/// An unpaid identifier has expired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lapsed;

impl Shortfall {
    pub fn paid(&self) -> &Paid {
        match self {
            Self::Refused(was) | Self::Lost(was) => &was.paid,
            Self::Undelivered(was) => &was.paid,
            Self::Erased(was) => &was.paid,
        }
    }

    pub(crate) fn paid_mut(&mut self) -> &mut Paid {
        match self {
            Self::Refused(was) | Self::Lost(was) => &mut was.paid,
            Self::Undelivered(was) => &mut was.paid,
            Self::Erased(was) => &mut was.paid,
        }
    }
}

impl Paid {
    /// No card of this payment was submitted earlier, because its money had not moved.
    pub(crate) const fn handed_in_after(&self) -> Timestamp {
        self.settlement.at
    }

    /// What a later look at the settlement found: the chain may have moved it to another
    /// transaction or block.
    pub(crate) fn moved(&mut self, settlement: Settlement) {
        self.settlement.finality = settlement.finality;
        self.settlement.transaction = settlement.transaction;
        self.confirm();
    }

    /// Applies the finality of the settlement.
    pub(crate) fn confirm(&mut self) {
        match self.settlement.finality {
            Finality::Provisional => {}
            Finality::Final => {
                self.standing = Standing::Final;
                self.payment.forget_credential();
            }
        }
    }
}
