//! Everything that speaks to the outside world, each behind a port of the order crate.
//!
//! 1. [`clock`]: the time.
//! 2. [`keys`]: the secrets of this house, and the file that they live in.
//! 3. [`seal`]: how what nobody else may read is kept.
//! 4. [`names`]: how a seller's name is read.
//! 5. [`http`]: how anybody outside is called, and how the outcome is sorted.
//! 6. [`provider`]: who prints and mails the cards.
//! 7. [`rpc`]: a node of a chain.
//! 8. [`ens`]: where a seller's money goes.
//! 9. [`nonce`]: what may be used once on a chain, and the block that used it.
//! 10. [`permit2`]: the proof on a chain that x402's money moved, or never will.
//! 11. [`settlement`]: how payments are carried to a chain.
//! 12. [`facilitator`]: somebody elsewhere who carries x402's promises to a chain.
//! 13. [`store`]: where orders are kept, in SQLite or in PostgreSQL.

mod bucket;
pub mod clock;
pub mod ens;
pub mod facilitator;
pub mod http;
pub mod keys;
pub mod names;
pub mod nonce;
pub mod permit2;
pub mod provider;
pub mod rpc;
pub mod seal;
pub mod settlement;
#[cfg(test)]
mod stopped_clock;
pub mod store;
