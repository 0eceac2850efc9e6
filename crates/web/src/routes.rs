//! Handlers, one file per URL.

pub mod agents;
mod draft;
pub mod health;
pub(crate) mod not_found;
pub(crate) mod order_page;
pub(crate) mod orders;
mod paywall;
pub mod postcards;
pub(crate) mod previews;
mod refused;
pub(crate) mod sellers;
pub(crate) mod send;
pub(crate) mod shop;
mod url_encoded;
