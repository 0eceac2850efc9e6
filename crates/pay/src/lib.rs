//! Payment protocols: wire formats, and the checks of credentials that need no network.
//!
//! Read it in this order:
//!
//! 1. [`http_binding`]: what both protocols share on the HTTP side; [`refusal_table`]: the status
//!    and the code of every error; [`error_body`]: its JSON; [`transfer`]: what a chain says about
//!    a transfer; [`mode`]: live or sandbox. `parse`, `eip712`, `reason` and `template` are
//!    helpers.
//! 2. [`x402`] and [`mpp`]: one folder for each protocol, with the same file names.

mod eip712;
pub mod error_body;
pub mod http_binding;
pub mod mode;
pub mod mpp;
mod parse;
mod reason;
pub mod refusal_table;
mod template;
pub mod transfer;
pub mod x402;

#[cfg(test)]
mod every_refusal;
