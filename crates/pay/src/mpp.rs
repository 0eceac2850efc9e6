//! MPP: the HTTP authentication scheme `Payment`, method `evm`, intent `charge`: one fixed
//! price, moved by the payer's own signed transfer.
//!
//! The same files stand in every protocol's folder: [`challenge`], [`credential`],
//! `receipt`, [`tender`], [`envelope`], and the port that moves the money,
//! here [`facilitator`]; `checks` says what a credential must hold, [`signature`]
//! what was signed. What only this protocol has stands beside them: [`binding`] makes a
//! challenge ours, `headers` finds the credential, `problem` says no in its words,
//! and `exact` is the scheme of x402 that its clients speak too.

use order::model::chain::Network;

pub mod binding;
pub mod challenge;
mod checks;
pub mod credential;
pub mod envelope;
mod exact;
pub mod facilitator;
mod headers;
mod problem;
mod receipt;
pub mod signature;
pub mod tender;

pub use binding::{Realm, Secrets};
pub use tender::Mpp;

/// The name of the scheme, in any case of letters.
pub const SCHEME: &str = "Payment";
pub const METHOD: &str = "evm";
pub const INTENT: &str = "charge";
/// The one network on which this price is asked for.
pub const NETWORK: Network = Network::Base;

#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;
