//! The life of an order: eight states, and the transitions between them.
//!
//! ```text
//! Offered ──▶ Settling ──▶ Submitting ──▶ Mailed
//!              │    ▲        │    ▲
//!              ▼    │        ▼    │
//!            Unconfirmed   Unfulfilled ──▶ Refunded
//! ```
//!
//! | from | function | to |
//! |---|---|---|
//! | `Offered` | `begin_settlement` | `Settling` |
//! | `Offered` | `lapse` | `Lapsed` |
//! | `Settling` | `settled` | `Submitting` |
//! | `Settling` | `declined` | `Offered` |
//! | `Settling` | `lost` | `Unconfirmed` |
//! | `Settling` | `still_unconfirmed` | `Unconfirmed` |
//! | `Unconfirmed` | `reopen` | `Settling` |
//! | `Submitting` | `accepted` | `Mailed` |
//! | `Submitting` | `failed` | `Unfulfilled` |
//! | `Submitting` | `erased` | `Unfulfilled` |
//! | `Submitting` | `payment_reversed` | `Offered` |
//! | `Unfulfilled` | `reopen` | `Submitting`, if its card is still stored |
//! | `Unfulfilled` | `attached` | `Mailed` |
//! | `Unfulfilled` | `refunded` | `Refunded` |
//! | `Mailed` | `undelivered` | `Unfulfilled` |
//! | `Mailed` | `refunded` | `Refunded` |
//! | `Mailed` | `cancelled_after_reversal` | `Offered` |
//!
//! In states whose names end in *-ing* an outside call has begun and its result is not written.
//! `Offered` changes only by a request or by expiry, `Refunded` and `Lapsed` never. The reconciler
//! examines all others. The core writes no other transition. In particular an unpaid card cannot be mailed:
//!
//! ```compile_fail,E0308
//! use order::{lifecycle::{Offered, Order}, ports::Provider};
//! async fn mail_for_free(provider: &dyn Provider, order: &Order<Offered>) {
//!     let _ = provider.submit(order).await;
//! }
//! ```
//!
//! A transition consumes the state that it leaves, so the earlier state cannot be used again:
//!
//! ```compile_fail,E0382
//! use order::{lifecycle::{Order, Settling}, model::{ids::Timestamp, payment::Settlement}};
//! fn settle_twice(order: Order<Settling>, one: Settlement, two: Settlement, now: Timestamp) {
//!     let paid = order.settled(one, now);
//!     let paid_again = order.settled(two, now);
//! }
//! ```
//!
//! Exactly those states that owe a card, or may owe one, have its text. The others have no
//! field for it, so no clean-up job is needed.

pub mod event;
mod order;
pub mod schedule;
mod states;
mod stored;
mod transitions;

pub use order::{OFFER_SECONDS, Order};
pub use states::{
    Doubt, Erased, Lapsed, Mailed, Offered, Paid, Refund, Refunded, Setback, Settling, Shortfall,
    Standing, Submitting, Unconfirmed, Unfulfilled,
};
pub use stored::{IDENTITY_SECONDS, Stored, Succession};
pub use transitions::Reopened;

#[cfg(test)]
mod tests;
