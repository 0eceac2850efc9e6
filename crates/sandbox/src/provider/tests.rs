//! The post office over real HTTP.

mod audit;
mod client;
mod control;
mod lob;
mod mailbox;
mod pictures;
mod thanks_io;
mod values;
mod wire;
