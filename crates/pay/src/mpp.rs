//! MPP: the HTTP authentication scheme `Payment`, method `evm`, intent `charge`: a fixed price,
//! paid with the payer's signed EIP-3009 transfer.
//!
//! Both protocols have the files [`challenge`], [`credential`], `checks`, `receipt`, [`tender`],
//! [`http_binding`], [`settler`] (the port that broadcasts payments) and [`signature`] (what a
//! payer signs). Only MPP needs [`challenge_id`] (proves that a challenge is ours), `headers`
//! (finds the credential), `problem` (problem documents) and `x402_exact` (the x402 scheme that
//! MPP clients also use).

use order::model::chain::Network;

pub mod challenge;
pub mod challenge_id;
mod checks;
pub mod credential;
mod headers;
pub mod http_binding;
mod problem;
mod receipt;
pub mod settler;
pub mod signature;
pub mod tender;
mod x402_exact;

/// The name of the authentication scheme. Case-insensitive.
pub const SCHEME: &str = "Payment";
pub const METHOD: &str = "evm";
pub const INTENT: &str = "charge";
/// The only network on which the price can be paid.
pub const NETWORK: Network = Network::Base;
/// How long a challenge can be answered. The transfers of clients expire with it, so it covers
/// the checks, the provider's quote and the settlement on a busy chain.
pub const TIMEOUT_SECONDS: u64 = 600;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;
