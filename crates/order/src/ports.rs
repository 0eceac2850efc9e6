//! The outside as traits: provider, name service, store and clock.

use std::time::Duration;

use async_trait::async_trait;

use crate::lifecycle::event::{Actor, Event};
use crate::lifecycle::{Offered, Order, Stored, Submitting};
use crate::model::card::Postcard;
use crate::model::card::warning::CardWarning;
use crate::model::chain::Network;
use crate::model::ids::{OperationKey, OrderId, Timestamp, WorkerId};
use crate::model::mail::{
    AcceptedCard, Cancellation, Delivery, Mailpiece, Preview, Promises, ProviderAccount,
    ProviderQuote,
};
use crate::model::payment::{PaymentKey, TenderKind};
use crate::model::resolution::Resolution;
use crate::model::seller::{NotAUsername, Username};
use crate::operator::filter::OrderFilter;
use crate::operator::page::OrderPage;

/// Why a call that has an effect failed.
///
/// The two must never be confused: after a refusal the call may be repeated, after a lost
/// answer its effect must be looked for first. The text is for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It certainly did not happen.
    Refused(String),
    /// It may have happened.
    Lost(String),
}

/// Why a call to the provider that has no effect failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// No answer in time.
    Unreachable,
    /// An answer that cannot be used: no total, no preview.
    Unusable,
    /// Our account is refused, or its rate is used up.
    Unavailable,
}

/// The company that prints and mails the cards.
#[async_trait]
pub trait Provider: Send + Sync {
    /// The provider and the account that this uses. An order stores it, and its card is looked
    /// for only there.
    fn account(&self) -> ProviderAccount;

    fn promises(&self) -> Promises;

    async fn preview(&self, card: &Postcard) -> Result<Preview, Unanswered>;

    /// What this provider is known to do badly with a card. Makes no call.
    fn warnings(&self, _card: &Postcard) -> Vec<CardWarning> {
        Vec::new()
    }

    /// The provider's total for this card, before anything is mailed.
    async fn quote(&self, card: &Postcard) -> Result<ProviderQuote, Unanswered>;

    /// Whether [`quote`](Self::quote) answers for this card without a call to the provider.
    fn is_quoted(&self, _card: &Postcard) -> bool {
        true
    }

    /// Validates a card whose price is known, as its submission would, if a call can be spared.
    async fn validate(&self, _card: &Postcard) -> Result<(), Unanswered> {
        Ok(())
    }

    /// Reserves one call for a card before its money moves, where calls to the provider are
    /// counted. Nothing after this may refuse the card for want of a call.
    async fn reserve_call(&self) -> Result<(), Unanswered> {
        Ok(())
    }

    /// Releases the reserved call: no money moved.
    async fn release_call(&self) {}

    /// Submits the card. Only a paid order can be submitted.
    async fn submit(&self, order: &Order<Submitting>) -> Result<Mailpiece, Failure>;

    /// The cards that were accepted for this order and not cancelled since. None was submitted
    /// before `since`, so that a provider with only a list need not read all of it.
    async fn find(&self, order: OrderId, since: Timestamp) -> Result<Vec<Mailpiece>, Failure>;

    /// How far a card has come; none if the provider does not know it.
    async fn track(&self, mailpiece: &Mailpiece) -> Result<Option<Delivery>, Failure>;

    async fn cancel(&self, mailpiece: &Mailpiece) -> Result<Cancellation, Failure>;

    /// Every card that the account accepted from `from` (inclusive) to `until` (exclusive), also
    /// those that carry no reference of ours, without the cancelled ones.
    async fn accepted(
        &self,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<AcceptedCard>, Failure>;
}

/// Resolves sellers' names to payout accounts.
#[async_trait]
pub trait NameService: Send + Sync {
    /// Reads a name in any of its spellings.
    fn read(&self, text: &str) -> Result<Username, NotAUsername>;

    /// None if the name has no account that can be paid.
    async fn resolve(
        &self,
        seller: &Username,
        purpose: Purpose,
    ) -> Result<Option<Resolution>, Failure>;
}

/// What a resolution is needed for, which decides how old it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To ask for payment. Nothing moves yet, so a resolution of the last minutes may be used
    /// while the lookup fails.
    Offer,
    /// Money is about to move, or a caller asks for the current value.
    Payment,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// The order was changed in between, or another order of the same operation is in play.
    /// Nothing was written.
    Moved,
    /// One of the payment's keys belongs to another order. Nothing was written.
    PaymentBound,
    /// The store gave no answer. It may have been written or not.
    Lost,
    /// A row that does not parse, or a card that our key does not decrypt.
    Corrupt,
}

/// Where orders are kept.
#[async_trait]
pub trait Store: Send + Sync {
    /// The order of this operation with the highest generation.
    async fn newest(&self, key: &OperationKey) -> Result<Option<Stored>, StoreError>;

    async fn find(&self, id: OrderId) -> Result<Option<Stored>, StoreError>;

    /// Writes an offer under the caller's own identifier, unless there is an order of that
    /// id, and returns what is there now.
    async fn offer(&self, fresh: Order<Offered>) -> Result<Stored, StoreError>;

    /// Writes the next state, if the order was not written since this version was read, binds
    /// its payment keys, and appends an event, all or nothing. It is on disk when this
    /// returns the new version.
    async fn record(&self, next: &Stored, by: &Actor) -> Result<u64, StoreError>;

    /// The orders that any of these keys is bound to, for ever.
    async fn bound(&self, keys: &[PaymentKey]) -> Result<Vec<OrderId>, StoreError>;

    /// Claims up to `most` orders for `worker`. No other worker can claim them before `until`.
    /// First come the orders of dead workers that are [recovered at
    /// once](Stored::is_recovered_at_once), whenever they are due; then those that are due and
    /// [in play](Stored::is_in_play), the longest due first; then the other due ones, so that
    /// no payer waits behind thousands of mailed cards. Their versions advance, so a worker
    /// that held one before cannot write it any more.
    async fn claim(
        &self,
        worker: WorkerId,
        now: Timestamp,
        until: Timestamp,
        most: usize,
    ) -> Result<Vec<Stored>, StoreError>;

    /// Makes the orders due now whose card a provider [has refused](Stored::REFUSED_CARD) and
    /// that wait for their next attempt: it takes cards again.
    async fn hasten_refused(&self, now: Timestamp) -> Result<(), StoreError>;

    /// Returns when a worker has died whose orders a [claim](Self::claim) would return
    /// at once. Never, where a worker can only have died before the store was opened.
    async fn orphaned(&self) {
        std::future::pending().await
    }

    /// Lets offers with an identifier of the caller's own lapse whose time is over, and drops
    /// lapsed identifiers and the oldest unpaid rows above the cap. An order for which a payment
    /// was ever begun is never dropped.
    async fn tidy(&self, now: Timestamp, limits: TidyLimits) -> Result<Tidied, StoreError>;

    /// The events of an order, oldest first.
    async fn events(&self, id: OrderId) -> Result<Vec<Event>, StoreError>;

    /// The orders that the filter admits, the newest first, at most so many.
    async fn list(&self, filter: &OrderFilter, most: usize) -> Result<OrderPage, StoreError>;

    /// Events of all orders after this number, oldest first, at most so many. No event with a
    /// number up to the last one becomes visible later.
    async fn events_after(
        &self,
        number: u64,
        most: usize,
    ) -> Result<Vec<NumberedEvent>, StoreError>;

    /// How many orders [are in play](Stored::is_in_play), by state, and since when the oldest is.
    async fn count_in_play(&self) -> Result<Vec<StateCount>, StoreError>;

    /// Where orders are open for which something is still to be done: a payment in doubt, a
    /// card that is owed or in doubt, or money that is not final.
    async fn open_orders(&self) -> Result<Vec<OpenOrders>, StoreError>;

    /// Whether the store answers.
    async fn ping(&self) -> Result<(), StoreError>;
}

/// An event with its number in the log of all orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedEvent {
    pub number: u64,
    pub event: Event,
}

/// So many orders in one state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StateCount {
    /// The [headline](Stored::headline).
    pub state: String,
    pub count: u64,
    /// When the oldest of them was begun.
    pub oldest: Timestamp,
}

/// So many open orders at one provider's account, paid in one way on one network.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpenOrders {
    /// None while no provider was asked.
    pub account: Option<ProviderAccount>,
    pub tender: TenderKind,
    pub network: Network,
    pub count: u64,
}

/// How much a store keeps of identifiers under which nothing was paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TidyLimits {
    /// Offers and lapsed identifiers together; the oldest go first.
    pub unpaid_rows_max: u64,
    /// How long a lapsed identifier is remembered.
    pub lapsed_seconds: u64,
}

impl TidyLimits {
    /// About 300 MB of rows, and as long as an identity lives.
    pub const DEFAULT: Self =
        Self { unpaid_rows_max: 1_000_000, lapsed_seconds: crate::lifecycle::IDENTITY_SECONDS };
}

/// The result of a clean-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tidied {
    pub lapsed: u64,
    pub dropped: u64,
}

/// The time, and a way to wait for it.
#[async_trait]
pub trait Clock: Send + Sync {
    /// The wall clock. It may be wrong, and may be corrected at any time.
    fn now(&self) -> Timestamp;

    /// Seconds since this process began, on a monotonic clock.
    fn uptime(&self) -> u64;

    async fn wait(&self, seconds: u64);

    /// Time since this process began, in real time also if the clock runs faster for a
    /// rehearsal.
    fn monotonic(&self) -> Duration {
        Duration::from_secs(self.uptime())
    }

    /// Waits for less than a second, between two looks. A clock of whole seconds does not wait.
    async fn moment(&self, _milliseconds: u64) -> Moment {
        Moment::PassedOver
    }
}

/// The result of a wait for less than a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    Waited,
    PassedOver,
}
