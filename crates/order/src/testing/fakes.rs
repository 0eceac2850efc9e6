//! A small world that obeys a script: chain, provider, names, clock and store, with faults.

#![expect(clippy::unwrap_used, reason = "a poisoned lock in a fake world is a failed test")]

pub mod audit;
pub mod cards;
pub mod chain;
pub mod fates;
pub mod provider;
pub mod still;
pub mod store;
pub mod world;
