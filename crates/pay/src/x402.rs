//! x402 version 2, scheme `upto`: the payer authorizes a maximum, settlement charges the price.
//!
//! Both protocols have the files [`challenge`], [`credential`], `checks`, [`signature`] (what a payer
//! signs), `receipt`, [`tender`], [`http_binding`] and [`settler`], the port that broadcasts payments.
//! Only x402 needs [`resource`] and `extensions` (what a challenge says about the endpoint) and
//! `allowance` (what a payer must approve).

use evm::contracts;
use order::model::chain::EvmAddress;
use order::tender::Rejection;

mod allowance;
pub mod challenge;
mod checks;
pub mod credential;
pub(crate) mod extensions;
pub mod http_binding;
mod receipt;
pub mod resource;
pub mod settler;
pub mod signature;
pub mod tender;

/// The only supported version of the protocol.
pub const VERSION: u64 = 2;

/// The extension with which a payer names a payment.
const IDENTIFIER: &str = "payment-identifier";
/// The extension with which a payer signs the allowance and pays no gas for it.
const SPONSORING: &str = "eip2612GasSponsoring";

/// Uniswap's Permit2, at the same address on every network.
pub const PERMIT2: EvmAddress = EvmAddress::from_bytes(contracts::PERMIT2);

/// The only contract that may spend an `upto` authorization, at the same address on every
/// network.
pub const UPTO_PROXY: EvmAddress = EvmAddress::from_bytes(contracts::UPTO_PROXY);

/// Rejects a credential with a reason that the protocol defines.
fn invalid(reason: &str) -> Rejection {
    Rejection::Invalid(reason.to_owned())
}

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;
