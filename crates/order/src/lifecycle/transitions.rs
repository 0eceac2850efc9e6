//! The transitions between the states of an order. Each consumes the state that it leaves.

use sha2::{Digest, Sha256};

use crate::lifecycle::order::{OFFER_SECONDS, Order};
use crate::lifecycle::schedule::{self, Attention};
use crate::lifecycle::states::{
    Doubt, Erased, Lapsed, Mailed, Offered, Paid, Refund, Refunded, Setback, Settling, Shortfall,
    Standing, Submitting, Unconfirmed, Unfulfilled,
};
use crate::model::card::Postcard;
use crate::model::identity::{Operation, Origin};
use crate::model::ids::{OrderId, Timestamp};
use crate::model::mail::{Delivery, Mailpiece, ProviderAccount, ProviderQuote, Stage};
use crate::model::payment::{Payment, PaymentKey, Preparation, Settlement};

/// What can still be done about an unfulfilled order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reopened {
    /// The card's text is stored: it can be looked for, and perhaps submitted again.
    Owed(Order<Submitting>),
    /// The card's text is deleted: only a person can resolve this.
    Ended(Order<Unfulfilled>),
}

impl Order<Offered> {
    pub fn offer(id: OrderId, operation: Operation, now: Timestamp) -> Self {
        Self {
            id,
            operation,
            created_at: now,
            updated_at: now,
            expires_at: now.plus(OFFER_SECONDS),
            version: 0,
            attention: Attention::NONE,
            state: Offered,
        }
    }

    pub fn begin_settlement(
        self,
        card: Postcard,
        quote: ProviderQuote,
        payment: Payment,
        now: Timestamp,
    ) -> Order<Settling> {
        self.into_state(now, schedule::in_flight(now), |Offered| Settling { card, quote, payment })
    }

    /// Whether its time is over. An offer without an identifier of the caller's own can be
    /// paid at any time.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        match self.operation.origin {
            // begin mutant: offers-expire
            Origin::Automatic => false,
            Origin::Explicit => self.expires_at <= now,
            // end mutant
        }
    }

    /// It lapses when its time is over, whenever that is noticed.
    pub fn lapse(self) -> Order<Lapsed> {
        let expired_at = self.expires_at;
        self.into_state(expired_at, Attention::NONE, |Offered| Lapsed)
    }
}

impl Order<Settling> {
    pub fn settled(self, settlement: Settlement, now: Timestamp) -> Order<Submitting> {
        self.into_state(now, schedule::in_flight(now), |was| {
            let Settling { card, quote, payment } = was;
            let (country, standing) = (card.recipient.country, Standing::Provisional);
            let mut paid = Paid { quote, payment, settlement, standing, country };
            paid.confirm();
            Submitting {
                card,
                paid,
                attempt: 1,
                since: now,
                attempted_at: now,
                doubt: Doubt::None,
                submitted_to: None,
            }
        })
    }

    pub fn declined(self, now: Timestamp) -> Order<Offered> {
        self.into_state(now, Attention::NONE, |_| Offered)
    }

    pub fn lost(self, now: Timestamp) -> Order<Unconfirmed> {
        let attention = self.attention.next_look(self.id, now);
        self.into_state(now, attention, |was| Unconfirmed { was })
    }

    /// Still in doubt after a payer repeated the request; the schedule stays as it was.
    pub fn still_unconfirmed(self, now: Timestamp) -> Order<Unconfirmed> {
        let attention = self.attention;
        self.into_state(now, attention, |was| Unconfirmed { was })
    }

    /// The same intent with another signed transaction, to be written before it is sent. It
    /// spends the same authorization, so only one can succeed.
    pub fn prepared_again(self, preparation: Preparation, now: Timestamp) -> Self {
        // The count stays: a settlement that fails on the chain costs gas each time.
        let looks = self.attention.looks;
        let attention = Attention { looks, ..schedule::in_flight(now) };
        self.into_state(now, attention, |mut was| {
            was.payment.preparation = preparation;
            was
        })
    }
}

impl Order<Unconfirmed> {
    /// Back to waiting for the settlement's answer, to ask for it again.
    pub fn reopen(self) -> Order<Settling> {
        let (frame, state) = self.split();
        frame.keep(state.was)
    }
}

impl Order<Submitting> {
    pub fn accepted(self, mailpiece: Mailpiece, now: Timestamp) -> Order<Mailed> {
        self.into_state(now, schedule::first_follow_up(now), |state| Mailed {
            paid: state.paid,
            submitted_to: state.submitted_to,
            mailpiece,
            mailed_at: now,
            delivery: Delivery { stage: Stage::Accepted, at: now },
        })
    }

    /// A refusal after a lost answer proves nothing about the lost one.
    pub fn failed(self, setback: Setback, now: Timestamp) -> Order<Unfulfilled> {
        let attention = self.attention.next_look(self.id, now);
        self.into_state(now, attention, |was| Unfulfilled {
            shortfall: match (setback, was.doubt) {
                (Setback::Refused, Doubt::None) => Shortfall::Refused(was),
                // What was refused before counts no longer: from here on attempts are
                // those after which there may be a card.
                (Setback::Lost, Doubt::None) => {
                    // mutant: old-attempts-count
                    Shortfall::Lost(Submitting { doubt: Doubt::Earlier, attempt: 1, ..was })
                }
                (Setback::Refused | Setback::Lost, Doubt::Earlier) => Shortfall::Lost(was),
            },
        })
    }

    /// The name under which a provider that promises so mails one card. One
    /// payment buys one card: if a card was recalled because its money was
    /// taken back, the card of the next payment must not be mistaken for it.
    pub fn submission_key(&self) -> [u8; 32] {
        let mut hash = Sha256::new_with_prefix(self.id.bytes());
        for key in &self.state.paid.payment.authorization.keys {
            hash.update(key.0);
        }
        hash.finalize().into()
    }

    /// The same, with the provider that it is about to be submitted to. This is written first.
    pub fn submitting_to(mut self, account: ProviderAccount) -> Self {
        // mutant: provider-not-kept
        self.state.submitted_to = Some(account);
        self
    }

    /// An operator has decided that it will not be mailed: its text is deleted.
    pub fn erased(self, now: Timestamp) -> Order<Unfulfilled> {
        self.into_state(now, schedule::first_reminder(now), |was| Unfulfilled {
            shortfall: Shortfall::Erased(Erased { paid: was.paid, submitted_to: was.submitted_to }),
        })
    }

    /// The process that submitted it ended without an answer, so the card may be mailed.
    pub fn in_doubt(mut self) -> Self {
        self.state.doubt = Doubt::Earlier;
        self
    }

    /// Another attempt, which is written before it is made. A provider that goes on
    /// refusing is asked at ever longer intervals.
    pub fn again(self, now: Timestamp) -> Self {
        let looks = self.attention.looks;
        // mutant: hurried-attempts
        let attention = Attention { looks, ..schedule::in_flight(now) };
        self.into_state(now, attention, |was| Submitting {
            attempt: was.attempt.saturating_add(1),
            attempted_at: now,
            ..was
        })
    }
}

impl Order<Unfulfilled> {
    /// Back to waiting for the provider's answer, to look for the card again.
    pub fn reopen(self) -> Reopened {
        let (frame, state) = self.split();
        match state.shortfall {
            Shortfall::Refused(was) | Shortfall::Lost(was) => Reopened::Owed(frame.keep(was)),
            shortfall @ (Shortfall::Undelivered(_) | Shortfall::Erased(_)) => {
                Reopened::Ended(frame.keep(Unfulfilled { shortfall }))
            }
        }
    }

    /// The provider has this card for the order. None if the provider had accepted one before and
    /// reported that it will not arrive.
    pub fn attached(self, mailpiece: Mailpiece, now: Timestamp) -> Option<Order<Mailed>> {
        let (frame, state) = self.split();
        let (paid, submitted_to) = match state.shortfall {
            Shortfall::Refused(was) | Shortfall::Lost(was) => (was.paid, was.submitted_to),
            Shortfall::Erased(was) => (was.paid, was.submitted_to),
            Shortfall::Undelivered(_) => return None,
        };
        let delivery = Delivery { stage: Stage::Accepted, at: now };
        let mailed = Mailed { paid, submitted_to, mailpiece, mailed_at: now, delivery };
        Some(frame.into_state(now, schedule::first_follow_up(now), |()| mailed))
    }

    /// A person was told once more; nothing else has happened.
    pub fn reminded(mut self, now: Timestamp) -> Self {
        self.attention = schedule::daily(self.attention, now);
        self
    }

    pub fn refunded(self, refund: Refund, now: Timestamp) -> Order<Refunded> {
        self.into_state(now, Attention::NONE, |state| match state.shortfall {
            Shortfall::Refused(was) | Shortfall::Lost(was) => Refunded::new(was.paid, refund, None),
            Shortfall::Erased(was) => Refunded::new(was.paid, refund, None),
            Shortfall::Undelivered(was) => Refunded::new(was.paid, refund, Some(was.mailpiece)),
        })
    }
}

impl Refunded {
    /// The refund's transaction belongs to this order from now on, as a payment's keys do.
    fn new(mut paid: Paid, refund: Refund, mailpiece: Option<Mailpiece>) -> Self {
        // mutant: refund-not-bound
        let network = paid.payment.authorization.network;
        paid.payment.authorization.keys.push(PaymentKey::of_refund(network, &refund.transaction));
        paid.payment.forget_credential();
        Self { paid, refund, mailpiece }
    }
}

impl Order<Mailed> {
    /// What a look at a mailed card found.
    pub fn followed(self, delivery: Delivery, now: Timestamp) -> Self {
        let (attention, mailed_at) = (self.attention, self.state.mailed_at);
        let last = delivery.stage.is_last();
        let attention = match (self.state.paid.standing, last) {
            (Standing::Provisional, _) => schedule::soon(attention, now),
            // A loss that a person has to acknowledge.
            (Standing::Reversed, _) => schedule::daily(attention, now),
            (Standing::Final, false) => schedule::follow_up(attention, mailed_at, now),
            (Standing::Final, true) => Attention::NONE,
        };
        self.into_state(now, attention, |was| {
            // A provider may give the time of our look, and not of its news.
            let delivery =
                if delivery.stage == was.delivery.stage { was.delivery } else { delivery };
            Mailed { delivery, ..was }
        })
    }

    pub fn undelivered(self, now: Timestamp) -> Order<Unfulfilled> {
        let attention = schedule::first_reminder(now);
        self.into_state(now, attention, |was| Unfulfilled {
            shortfall: Shortfall::Undelivered(was),
        })
    }

    pub fn refunded(self, refund: Refund, now: Timestamp) -> Order<Refunded> {
        self.into_state(now, Attention::NONE, |was| {
            Refunded::new(was.paid, refund, Some(was.mailpiece))
        })
    }

    /// The chain took the money back, and the card was stopped in time.
    pub fn cancelled_after_reversal(self, now: Timestamp) -> Order<Offered> {
        self.into_state(now, Attention::NONE, |_| Offered)
    }
}

/// Only after a reorganisation of the chain.
impl Order<Submitting> {
    /// The chain took the money back, and the provider had refused the card.
    pub fn payment_reversed(self, now: Timestamp) -> Order<Offered> {
        self.into_state(now, Attention::NONE, |_| Offered)
    }
}
