//! Fakes of all ports (chain, provider, names, clock, store) with faults on a schedule.

#![expect(clippy::unwrap_used, reason = "a poisoned lock in a fake is a failed test")]

pub mod audit;
pub mod cards;
pub mod chain;
mod counting;
pub mod coverage;
pub mod fault_schedule;
pub mod intercepted_tender;
pub mod manual_time;
pub mod process;
pub mod provider;
mod provider_port;
pub mod store;
mod store_port;
pub mod tender;
pub mod world;
