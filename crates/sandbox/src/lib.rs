//! The outside world in miniature, for demonstrations and tests.
//!
//! Nothing that it offers can be spent on a real chain; [`payee`] says why.
//! Nothing that it takes is printed or posted; [`provider`] says what happens
//! instead.
//! [`chain`] is the chains, [`faucet`] who has money on them, [`keys`] who signs,
//! [`facilitator`] who carries payments to them.

pub mod chain;
pub mod facilitator;
pub mod faucet;
pub mod keys;
pub mod payee;
pub mod provider;
