//! Payments through a facilitator elsewhere, over real HTTP, on the sandbox's chains.

#![expect(clippy::unwrap_used, reason = "a test whose own tools fail has nothing else to do")]

mod faults;
mod payments;
mod town;
mod traces;
