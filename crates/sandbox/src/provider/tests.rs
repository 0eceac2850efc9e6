//! The post office over real HTTP.

mod client;
