//! The settler before real HTTP and the sandbox's chains, which lie, forget and reorganise.

#![expect(clippy::unwrap_used, reason = "a test whose own tools fail has nothing else to do")]

mod doubt;
mod faults;
mod gas;
mod house;
mod line;
mod paying;
mod signing;
mod transfers;
