//! The stores against real disks and servers: contract, crashes, truncation and encryption.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod backup;
mod budget;
mod killed_processes;
mod marked_words;
mod opening;
mod postgres;
mod postgres_server;
mod rotation;
mod sqlite;
mod test_store;
mod tls;
mod truncated_files;
