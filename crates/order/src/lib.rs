//! Postcard orders: the domain model and every decision about money and mail.
//!
//! This crate performs no I/O. It reaches the outside only through the traits in [`ports`]
//! and [`tender`].
//!
//! Read it in this order:
//!
//! 1. [`model`]: the value types, and which requests are the same operation.
//! 2. [`lifecycle`]: the states of an order, the transitions between them, and when the
//!    reconciler examines an order next.
//! 3. [`ports`], [`tender`]: the outside, as traits.
//! 4. [`checkout`]: from request to postcard. [`writer`] and `fulfilment` are what it shares
//!    with the reconciler.
//! 5. [`reconciler`]: orders that are left unfinished, and orders in the mail.
//! 6. [`outcome`], [`refusal`], [`status`]: what callers are told.
//! 7. [`operator`]: what an operator can see and do.
//! 8. `testing` (feature `fakes`): fakes, the store contract and the simulation.

pub mod checkout;
mod fulfilment;
pub mod lifecycle;
pub mod model;
pub mod operator;
pub mod outcome;
pub mod ports;
pub mod reconciler;
pub mod refusal;
pub mod status;
pub mod tender;
pub mod writer;

#[cfg(any(test, feature = "fakes"))]
pub mod testing;
