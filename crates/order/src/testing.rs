//! Fakes of every port, the contract that every store keeps, and the simulation.

pub mod contract;
pub mod fakes;
pub mod simulation;
