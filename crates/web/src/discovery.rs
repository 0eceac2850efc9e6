//! Documents that tell machines what is here, all made from the premises and the surface.

pub mod agent_card;
pub mod agent_skills;
pub mod ai_catalog;
pub mod api_catalog;
pub mod client;
pub mod commerce;
pub mod feed;
pub mod full_text;
pub mod invest;
pub mod json_ld;
pub mod mcp_card;
pub mod oauth;
pub mod places;
pub mod quote;
pub mod robots;
pub mod security;
pub mod service_catalog;
pub mod sitemap;

pub mod openapi;
#[cfg(test)]
pub(crate) mod samples;
