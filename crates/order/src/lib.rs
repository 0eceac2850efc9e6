//! The postcard order: what it is, what may happen to it, and in which sequence.
//!
//! Nothing here knows HTTP, SQL or a chain. The outside world is reached only
//! through the traits in [`ports`] and [`tender`].
//!
//! Read it in this order:
//!
//! 1. [`money`], [`chain`], [`ids`], [`card`], [`seller`], [`evidence`],
//!    [`payment`], [`mail`], [`offer`]: the nouns. Each is valid once it exists.
//! 2. [`identity`]: which requests are the same operation.
//! 3. [`lifecycle`], [`schedule`]: the states of an order, the moves between
//!    them, and when it is looked at next.
//! 4. [`ports`], [`tender`]: what the desk asks of the world.
//! 5. [`desk`]: the one walk from request to postcard, alone in [`single_flight`], within the
//!    payer's share of [`quotes`];
//!    [`preview`]: a look at the card before.
//! 6. [`reconcile`]: what to do with orders that a crash left behind, a few at
//!    once; [`resubmit_watch`]: how long a card has been looked for; [`alert`]: what a person
//!    should know.
//! 7. [`status`], [`event`], [`refusal`]: what is said of an order.
//! 8. `fakes`, `contract`, `simulation` (feature `fakes`): a world that obeys a
//!    script, what every store must keep, and a million orders in bad weather.

pub mod alert;
pub mod card;
pub mod chain;
pub mod country;
pub mod desk;
pub mod event;
pub mod evidence;
pub mod identity;
pub mod ids;
pub mod image_url;
pub mod lifecycle;
pub mod mail;
pub mod money;
pub mod offer;
pub mod payment;
pub mod ports;
pub mod preview;
pub mod public_address;
pub mod quotes;
pub mod reconcile;
mod redacted;
pub mod refusal;
pub mod resubmit_watch;
pub mod schedule;
pub mod seller;
pub mod single_flight;
pub mod status;
pub mod tender;

#[cfg(any(test, feature = "fakes"))]
pub mod contract;
#[cfg(any(test, feature = "fakes"))]
pub mod fakes;
#[cfg(any(test, feature = "fakes"))]
pub mod simulation;
