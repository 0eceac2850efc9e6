//! The whole house, started as an operator starts it and asked over real sockets.

#![expect(clippy::unwrap_used, reason = "a test whose own tools fail has nothing else to do")]

mod closing;
mod configuration;
mod dawdlers;
mod example;
mod fences;
mod house;
mod mpp;
mod names;
mod pay;
mod public;
mod serving;
mod world;
