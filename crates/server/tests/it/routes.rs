//! Endpoints and documents of the started binary, over real HTTP.

mod agent_auth;
mod api_mpp_postcards;
mod api_postcards;
mod api_x402_postcards_preview;
mod api_x402_resolve;
mod availability;
mod client;
mod discovery;
mod mcp;
mod pages;
mod preview_image_urls;
mod preview_provider_faults;
mod quota;
mod send;
mod shop;
