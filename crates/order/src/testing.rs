//! Fakes of every port, the store contract, and the simulation.

pub mod contract;
pub mod fakes;
pub mod manual_clock;
pub mod simulation;
