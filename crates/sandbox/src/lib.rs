//! The outside world in miniature, for demonstrations and tests.
//!
//! Nothing that it offers can be spent on a real chain; [`payee`] says why.
//! Nothing that it takes is printed or posted; [`provider`] says what happens
//! instead.

pub mod payee;
pub mod provider;
