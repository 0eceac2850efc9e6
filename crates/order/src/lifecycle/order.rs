//! An order and what it has in every state.

use crate::lifecycle::schedule::Attention;
use crate::model::identity::Operation;
use crate::model::ids::{OrderId, Timestamp};

/// How long an identifier of the caller's own can be paid for.
pub const OFFER_SECONDS: u64 = 24 * 60 * 60;

/// An order in state `S`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order<S> {
    pub id: OrderId,
    pub operation: Operation,
    pub created_at: Timestamp,
    /// When the public status of the order last changed.
    pub updated_at: Timestamp,
    /// When an unpaid identifier of the caller's own expires. Other orders do not expire.
    pub expires_at: Timestamp,
    /// How often this order has been written. The store compares it, so that
    /// of two writers the second loses.
    pub version: u64,
    pub attention: Attention,
    pub state: S,
}

impl<S> Order<S> {
    pub(super) fn into_state<T>(
        self,
        now: Timestamp,
        attention: Attention,
        next: impl FnOnce(S) -> T,
    ) -> Order<T> {
        let (frame, state) = self.split();
        Order { updated_at: now, attention, ..frame }.keep(next(state))
    }

    pub(super) fn split(self) -> (Order<()>, S) {
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

    /// The same order after an examination without a result. The next one comes later.
    pub fn looked(mut self, now: Timestamp) -> Self {
        self.attention = self.attention.next_look(self.id, now);
        self
    }
}

impl Order<()> {
    pub(super) fn keep<T>(self, state: T) -> Order<T> {
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
