//! Values of a payment, and how people and protocols write them.

pub(crate) mod account;
pub mod amount;
pub(crate) mod header_json;
pub mod network;
pub(crate) mod number;
pub mod rail;
pub(crate) mod text;
