//! Machine-readable documents, made from the site facts and the endpoint list.

pub mod agents;
pub mod api_catalog;
pub mod client;
pub mod crawlers;
pub mod invest;
pub mod links;
pub mod openapi;
pub mod service_catalog;
pub mod shop;

#[cfg(test)]
pub(crate) mod fixtures;
