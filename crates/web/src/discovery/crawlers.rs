//! Documents for search engines and other crawlers.

pub mod full_text;
pub mod json_ld;
pub mod robots;
pub mod security;
pub mod sitemap;
