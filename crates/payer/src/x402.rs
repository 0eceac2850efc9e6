//! x402: an authorization of at most a price, by Permit2, on any of the three networks.

mod allowance;
mod authorize;
pub(crate) mod challenge;
mod credential;
mod node;
pub(crate) mod reason;
