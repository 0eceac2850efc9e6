//! Stores of orders: SQLite and PostgreSQL behind one port.

pub mod encryption;
mod error;
mod identity;
mod migration;
pub mod postgres;
mod rows;
pub mod schema;
pub mod sqlite;
mod undecryptable;

pub use error::{OpenError, UrlProblem};
