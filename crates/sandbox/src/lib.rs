//! Emulators of the provider, the chains and the facilitator, for demonstrations and tests.
//!
//! No real money moves ([`payee`] explains why) and no card is printed or mailed
//! ([`provider`]). [`chain`] emulates the chains, [`faucet`] derives the keys of
//! funded accounts, [`keys`] signs, and [`facilitator`] settles payments.

pub mod chain;
pub mod facilitator;
pub mod faucet;
mod fault_rules;
mod http;
pub mod keys;
pub mod payee;
pub mod provider;
