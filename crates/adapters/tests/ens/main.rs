//! ENS lookups over HTTP, against a scripted chain and scripted gateways.

#![expect(clippy::unwrap_used, reason = "a test whose own tools fail has nothing else to do")]

mod cache;
mod chain;
mod fixture;
mod gateways;
mod nodes;
mod records;
mod servers;
