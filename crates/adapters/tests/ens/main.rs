//! Names looked up over real HTTP, on a chain and at gateways that obey a script.

#![expect(clippy::unwrap_used, reason = "a test whose own tools fail has nothing else to do")]

mod chain;
mod gateways;
mod house;
mod memory;
mod nodes;
mod records;
mod servers;
