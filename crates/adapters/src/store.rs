//! Where orders are kept: two databases behind one port and one contract.

mod error;
mod migration;
mod outbox_rows;
pub mod postgres;
mod rows;
pub mod sqlite;
mod undecryptable;

pub use error::OpenError;
