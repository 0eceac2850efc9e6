//! The outside world in miniature, for demonstrations and tests.
//!
//! Nothing that it offers can be spent on a real chain; [`payee`] says why.
//! Nothing that it takes is printed or posted; [`provider`] says what happens
//! instead.
//! [`chain`] is the chains, [`faucet`] who has money on them, [`keys`] who signs.

pub mod chain;
pub mod faucet;
pub mod keys;
pub mod payee;
pub mod provider;
