//! The whole service: the real binary, started in a temporary folder, over real sockets.

#![expect(clippy::unwrap_used, reason = "a failing fixture fails the test")]

mod fences;
mod fixture;
mod names;
mod operator;
mod paid_order;
mod pay;
mod process;
mod routes;
mod snapshots;
mod structure;
