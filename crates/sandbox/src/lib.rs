//! The outside world in miniature, for demonstrations and tests.
//!
//! Nothing that it offers can be spent on a real chain; [`payee`] says why.

pub mod payee;
