//! The stores against real disks and servers: contract, crashes, cuts and secrets.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod budget;
mod cuts;
mod kills;
mod marked_words;
mod opening;
mod postgres;
mod postgres_server;
mod rotation;
mod sqlite;
mod subject;
