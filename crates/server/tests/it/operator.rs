//! The operator's interface and its commands.

mod access;
mod accounting;
mod actions;
mod console;
mod fixture;
mod public_listener;
