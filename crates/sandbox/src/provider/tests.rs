//! The emulated provider over real HTTP.

mod audit;
mod client;
mod control;
mod lob;
mod mailbox;
mod pictures;
mod raw_responses;
mod thanks_io;
mod values;
