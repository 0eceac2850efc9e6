//! The life of an order: eight states, and the transitions between them.
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
//! In states whose names end in *-ing* an outside call is in flight, and only its result
//! changes them. All others are at rest. A transition that is not an arrow above has no
//! function, so it cannot be written. In particular an unpaid card cannot be mailed:
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
