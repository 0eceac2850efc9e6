//! x402 version 2, scheme `upto`: the payer signs the most, the seller takes what it costs.
//!
//! The same files stand in every protocol's folder: [`challenge`], [`credential`],
//! `receipt`, [`tender`], [`envelope`], and the port that moves the money,
//! here [`facilitator`]. What only this protocol has stands beside them:
//! [`resource`] and `extensions` say what is sold, `allowance` what a payer must allow, `checks` what a
//! credential must hold, [`signature`] what was signed.

use order::model::chain::EvmAddress;
use order::tender::Rejection;

mod allowance;
pub mod challenge;
mod checks;
pub mod credential;
pub mod envelope;
pub(crate) mod extensions;
pub mod facilitator;
mod receipt;
pub mod resource;
pub mod signature;
pub mod tender;

pub use resource::Resource;
pub use tender::X402;

/// The version of the protocol that we speak, and the only one.
pub const VERSION: u64 = 2;

/// Uniswap's Permit2, at the same address on every network.
pub const PERMIT2: EvmAddress = EvmAddress::from_bytes([
    0x00, 0x00, 0x00, 0x00, 0x00, 0x22, 0xd4, 0x73, 0x03, 0x0f, 0x11, 0x6d, 0xde, 0xe9, 0xf6, 0xb4,
    0x3a, 0xc7, 0x8b, 0xa3,
]);

/// The contract that alone may spend an `upto` promise, the same everywhere.
pub const UPTO_PROXY: EvmAddress = EvmAddress::from_bytes([
    0x40, 0x20, 0xa4, 0xf3, 0xb7, 0xb9, 0x0c, 0xca, 0x42, 0x3b, 0x9f, 0xab, 0xcc, 0x0c, 0xe5, 0x7c,
    0x6c, 0x24, 0x00, 0x02,
]);

/// A credential that does not hold, for a reason in the protocol's own words.
fn flaw(reason: &str) -> Rejection {
    Rejection::Invalid(reason.to_owned())
}

#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;
