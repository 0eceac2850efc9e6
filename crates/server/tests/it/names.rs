//! The ENS adapter on the emulated chain, over real HTTP.

mod concurrent_lookups;
mod fixture;
mod gateways;
mod nodes;
mod records;
