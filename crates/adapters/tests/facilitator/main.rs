//! Payments through a remote facilitator, over HTTP, on the sandbox's chains.

#![expect(clippy::unwrap_used, reason = "a test whose own tools fail has nothing else to do")]

mod faults;
mod fixture;
mod payments;
mod traces;
