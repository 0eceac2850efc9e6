//! Names looked up over real HTTP, on a chain and at gateways that obey a script.

mod chain;
mod gateways;
mod house;
mod memory;
mod nodes;
mod records;
mod servers;
