//! What an order knows in each of its states, and no more than that.

use super::Order;
use crate::model::card::Postcard;
use crate::model::ids::Timestamp;
use crate::model::mail::{Delivery, Mailpiece, ProviderAccount, ProviderQuote};
use crate::model::payment::{Finality, Payment, Settlement};

/// An offer is out. Nothing is paid, and no personal data is kept. Only an offer under the
/// caller's own identifier, and one whose payment was declined, has a row in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offered;

/// We have asked for the money and do not know the answer yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settling {
    pub card: Postcard,
    pub quote: ProviderQuote,
    pub payment: Payment,
}

/// We cannot tell whether the money moved.
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
}

/// How sure the money is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The chain may still be reorganised.
    Provisional,
    Final,
    /// The chain took it back and the card could not be stopped. A loss, and a
    /// person should know.
    Reversed,
}

/// The money is ours; we have asked for the card and do not know the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submitting {
    pub card: Postcard,
    pub paid: Paid,
    pub attempt: u32,
    pub since: Timestamp,
    pub doubt: Doubt,
    /// Whom we have asked. None before that.
    pub asked: Option<ProviderAccount>,
}

/// Whether an earlier attempt may have mailed the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Every earlier attempt is known to have been refused.
    None,
    /// The answer to one was lost.
    Earlier,
}

/// The money is ours and no card is known to be in the post. We owe someone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfulfilled {
    pub shortfall: Shortfall,
}

/// Why a paid card is not known to be in the post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shortfall {
    /// The provider said no. It may be asked again.
    Refused(Submitting),
    /// The provider's answer was lost. Only a card that turns up, a provider
    /// that promises not to mail twice, or a person may move this order on.
    Lost(Submitting),
    /// It was accepted and will not arrive. Its text is gone; a person decides.
    Undelivered(Mailed),
}

/// What can still be done about an unfulfilled order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reopened {
    /// The card's text is here: it can be looked for, and perhaps mailed.
    Owed(Order<Submitting>),
    /// The card's text is gone: only a person can make this good.
    Ended(Order<Unfulfilled>),
}

/// How an attempt to mail ended, when it did not end well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setback {
    Refused,
    Lost,
}

/// The card is in the post. Its text is gone from here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mailed {
    pub paid: Paid,
    pub mailpiece: Mailpiece,
    pub mailed_at: Timestamp,
    pub delivery: Delivery,
    /// Where it was mailed.
    pub asked: Option<ProviderAccount>,
}

/// The payer has the money back, which was checked on the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refunded {
    pub paid: Paid,
    pub refund: Refund,
}

/// Proof of a refund.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refund {
    pub transaction: String,
    pub at: Timestamp,
}

/// The offer ran out unpaid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lapsed;

impl Shortfall {
    pub fn paid(&self) -> &Paid {
        match self {
            Self::Refused(was) | Self::Lost(was) => &was.paid,
            Self::Undelivered(was) => &was.paid,
        }
    }

    pub(super) fn into_paid(self) -> Paid {
        match self {
            Self::Refused(was) | Self::Lost(was) => was.paid,
            Self::Undelivered(was) => was.paid,
        }
    }
}

impl Paid {
    /// No card of this payment was handed in before: its money had not moved.
    pub(crate) const fn handed_in_after(&self) -> Timestamp {
        self.settlement.at
    }

    /// Takes the settlement at its word: once final, nothing can undo it.
    pub(crate) fn confirmed(mut self) -> Self {
        match self.settlement.finality {
            Finality::Provisional => {}
            Finality::Final => {
                self.standing = Standing::Final;
                self.payment.forget_credential();
            }
        }
        self
    }
}
