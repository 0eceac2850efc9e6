//! x402 version 2, scheme `upto`: the payer signs the most, the seller takes what it costs.
//!
//! The same files stand in every protocol's folder.

pub mod credential;
pub mod facilitator;
