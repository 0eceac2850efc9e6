//! The life of an order: eight states, and the moves between them.
//!
//! ```text
//!          begin_settlement          settled             accepted
//! Offered ─────────────────▶ Settling ──────▶ Submitting ────────▶ Mailed
//!  │ ▲ ▲                     │  │  ▲            │    ▲             │  │
//!  │ │ └─────declined────────┘  │  │     failed │    │ reopen      │  │ undelivered
//!  │ │ lapse               lost │  │ reopen     ▼    │             │  ▼
//!  │ │                          ▼  │          Unfulfilled ◀────────┼──┘
//!  ▼ │                     Unconfirmed          │    │             │
//! Lapsed                                        │    └─refunded────┴──▶ Refunded
//!    └──────────────────── forgiven ◀───────────┴── recalled ◀─ (the chain took the money back)
//! ```
//!
//! Names ending in *-ing* have a call to the outside in flight; only its answer
//! moves them on. All others are at rest. A move that is not an arrow above
//! has no function, so it cannot be written. In particular nobody can mail a
//! card that was not paid for:
//!
//! ```compile_fail,E0308
//! use order::{lifecycle::{Offered, Order}, ports::Provider};
//! async fn mail_for_free(provider: &dyn Provider, order: &Order<Offered>) {
//!     let _ = provider.submit(order).await;
//! }
//! ```
//!
//! And a move consumes the state that it leaves, so nobody can go on with what
//! the order was before:
//!
//! ```compile_fail,E0382
//! use order::{lifecycle::{Order, Settling}, model::{ids::Timestamp, payment::Settlement}};
//! fn settle_twice(order: Order<Settling>, one: Settlement, two: Settlement, now: Timestamp) {
//!     let paid = order.settled(one, now);
//!     let paid_again = order.settled(two, now);
//! }
//! ```
//!
//! The card's text is in exactly those states that owe, or may owe, somebody a
//! card. No clean-up job has to remember that; the others have no field for it.

use sha2::{Digest, Sha256};

use crate::lifecycle::schedule::Attention;
use crate::model::card::Postcard;
use crate::model::identity::{Operation, Origin};
use crate::model::ids::{OrderId, Timestamp};
use crate::model::mail::{Delivery, Mailpiece, ProviderAccount, ProviderQuote, Stage};
use crate::model::payment::{Payment, Preparation, Settlement};

/// How long an identifier of the caller's own can be paid for: long enough to come back with
/// money the next day.
pub const OFFER_SECONDS: u64 = 24 * 60 * 60;

/// An order in state `S`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order<S> {
    pub id: OrderId,
    pub operation: Operation,
    pub created_at: Timestamp,
    /// When something last changed that is told of the order.
    pub updated_at: Timestamp,
    /// When an unpaid identifier of the caller's own expires. Other orders do not expire.
    pub expires_at: Timestamp,
    /// How often this order has been written. The store compares it, so that
    /// of two writers the second loses: it is the fencing number too.
    pub version: u64,
    pub attention: Attention,
    pub state: S,
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
        self.into_state(now, schedule::walking(now), |Offered| Settling { card, quote, payment })
    }

    /// Whether its time is over. An offer without an identifier of the caller's own can be
    /// paid at any time.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        match self.operation.origin {
            Origin::Automatic => false,
            Origin::Explicit => self.expires_at <= now,
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
        self.into_state(now, schedule::walking(now), |was| {
            let Settling { card, quote, payment } = was;
            let paid = Paid { quote, payment, settlement, standing: Standing::Provisional };
            let paid = paid.confirmed();
            Submitting { card, paid, attempt: 1, since: now, doubt: Doubt::None, asked: None }
        })
    }

    pub fn declined(self, now: Timestamp) -> Order<Offered> {
        self.into_state(now, Attention::NONE, |_| Offered)
    }

    pub fn lost(self, now: Timestamp) -> Order<Unconfirmed> {
        let attention = self.attention.next_look(self.id, now);
        self.into_state(now, attention, |was| Unconfirmed { was })
    }

    /// Still in doubt; the next look comes when it was to come anyway.
    pub fn asked_in_vain(self, now: Timestamp) -> Order<Unconfirmed> {
        let attention = self.attention;
        self.into_state(now, attention, |was| Unconfirmed { was })
    }

    /// The same intent with another signed transaction, to be written down
    /// before it is sent. It spends the same promise, so only one can succeed.
    pub fn prepared_again(self, preparation: Preparation, now: Timestamp) -> Self {
        // How often it was in vain still counts: what fails again and again on the chain
        // costs us gas each time.
        let looks = self.attention.looks;
        let attention = Attention { looks, ..schedule::walking(now) };
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
            asked: state.asked,
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

    /// The same, to be handed to this provider: written down before it is.
    pub fn asking(mut self, account: ProviderAccount) -> Self {
        self.state.asked = Some(account);
        self
    }

    /// Its walk ended without an answer, so it may have mailed the card.
    pub fn in_doubt(mut self) -> Self {
        self.state.doubt = Doubt::Earlier;
        self
    }

    /// Another attempt, to be written down before it is made. A provider that goes on
    /// refusing is asked at ever longer intervals.
    pub fn again(self, now: Timestamp) -> Self {
        let looks = self.attention.looks;
        let attention = Attention { looks, ..schedule::walking(now) };
        self.into_state(now, attention, |was| Submitting {
            attempt: was.attempt.saturating_add(1),
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
            Shortfall::Undelivered(was) => {
                Reopened::Ended(frame.keep(Unfulfilled { shortfall: Shortfall::Undelivered(was) }))
            }
        }
    }

    /// A person was told once more; nothing else has happened.
    pub fn reminded(mut self, now: Timestamp) -> Self {
        self.attention = schedule::daily(self.attention, now);
        self
    }

    pub fn refunded(self, refund: Refund, now: Timestamp) -> Order<Refunded> {
        self.into_state(now, Attention::NONE, |state| Refunded {
            paid: state.shortfall.into_paid(),
            refund,
        })
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
        let attention = schedule::daily(self.attention, now);
        self.into_state(now, attention, |was| Unfulfilled {
            shortfall: Shortfall::Undelivered(was),
        })
    }

    pub fn refunded(self, refund: Refund, now: Timestamp) -> Order<Refunded> {
        self.into_state(now, Attention::NONE, |was| Refunded { paid: was.paid, refund })
    }

    /// The chain took the money back, and the card was stopped in time.
    pub fn recalled(self, now: Timestamp) -> Order<Offered> {
        self.into_state(now, Attention::NONE, |_| Offered)
    }
}

/// What only a chain that changed its mind brings about.
impl Order<Submitting> {
    /// The chain took the money back, and the provider had refused the card.
    pub fn forgiven(self, now: Timestamp) -> Order<Offered> {
        self.into_state(now, Attention::NONE, |_| Offered)
    }
}

impl<S> Order<S> {
    fn into_state<T>(
        self,
        now: Timestamp,
        attention: Attention,
        next: impl FnOnce(S) -> T,
    ) -> Order<T> {
        let (frame, state) = self.split();
        Order { updated_at: now, attention, ..frame }.keep(next(state))
    }

    fn split(self) -> (Order<()>, S) {
        let Self { id, operation, created_at, updated_at, expires_at, version, attention, state } =
            self;
        let frame = Order {
            id,
            operation,
            created_at,
            updated_at,
            expires_at,
            version,
            attention,
            state: (),
        };
        (frame, state)
    }

    /// The same order, looked at in vain; the next look comes later.
    pub fn looked(mut self, now: Timestamp) -> Self {
        self.attention = self.attention.next_look(self.id, now);
        self
    }
}

impl Order<()> {
    fn keep<T>(self, state: T) -> Order<T> {
        Order {
            id: self.id,
            operation: self.operation,
            created_at: self.created_at,
            updated_at: self.updated_at,
            expires_at: self.expires_at,
            version: self.version,
            attention: self.attention,
            state,
        }
    }
}

pub mod event;
pub mod schedule;
mod states;
mod stored;
pub use states::{
    Doubt, Lapsed, Mailed, Offered, Paid, Refund, Refunded, Reopened, Setback, Settling, Shortfall,
    Standing, Submitting, Unconfirmed, Unfulfilled,
};
pub use stored::{IDENTITY_SECONDS, Stored, Succession};

#[cfg(test)]
mod tests;
