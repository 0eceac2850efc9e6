//! Endpoints and pages that documents link to, checked against the endpoint list at compile time.

use std::net::IpAddr;

use crate::site_facts::{CONTRACT_DATE, SiteFacts};
use crate::surface::{Endpoint, SURFACE};

pub const PREVIEW: Endpoint = at("/api/x402/postcards/preview");
pub const SEND_BY_X402: Endpoint = at("/api/x402/postcards");
pub const SEND_BY_MPP: Endpoint = at("/api/mpp/postcards");
pub const ORDER: Endpoint = at("/api/x402/orders/{publicOrderId}");
pub const ORDER_PAGE: Endpoint = at("/orders/{publicOrderId}");
pub const RESOLVE: Endpoint = at("/api/x402/resolve/{username}");
pub const OPENAPI: Endpoint = at("/openapi.json");
pub const QUOTE: Endpoint = at("/api");
pub const SERVICE_CATALOG: Endpoint = at("/api/x402");
pub const API_CATALOG: Endpoint = at("/.well-known/api-catalog");
pub const AGENT_CARD: Endpoint = at("/.well-known/agent-card.json");
pub const MCP_CARD: Endpoint = at("/.well-known/mcp/server-card.json");
pub const BRIEFING: Endpoint = at("/invest/index.json");
pub const FEED: Endpoint = at("/shop/feed.json");
pub const CHECKOUT: Endpoint = at("/shop/checkout");
pub const MCP: Endpoint = at("/mcp");
pub const CLIENT: Endpoint = at("/client/pennyblack.mjs");
pub const CLIENT_HASH: Endpoint = at("/client/pennyblack.mjs.sha256");
pub const MCP_CARD_AT_SERVER: Endpoint = at("/mcp/server-card");
pub const REGISTER: Endpoint = at("/agent/auth");
pub const CLAIM: Endpoint = at("/agent/auth/claim");
pub const REVOKE: Endpoint = at("/agent/auth/revoke");
pub const AUTH_GUIDE: Endpoint = at("/auth.md");
pub const GUIDE: Endpoint = at("/llms.txt");
pub const SERVER_JSON: Endpoint = at("/server.json");
pub const AI_CATALOG: Endpoint = at("/.well-known/ai-catalog.json");
pub const SECURITY: Endpoint = at("/.well-known/security.txt");
pub const SITEMAP: Endpoint = at("/sitemap.xml");

/// The health check. It is not in the endpoint list, because visitors do not need it.
pub const HEALTH_PATH: &str = "/healthz";
pub const ICON_PATH: &str = "/favicon.svg";
pub const PNG_ICON_PATH: &str = "/icon-192.png";

/// Names of pages that documents link to.
pub const DOCS: &str = "docs";
pub const DEVELOPERS: &str = "developers";
pub const MARKETPLACE: &str = "docs-x402-username-marketplace";
pub const SHOP: &str = "shop";
pub const SEND: &str = "send";
pub const SUPPORT: &str = "support";
pub const CONTACT: &str = "contact";
pub const INVEST: &str = "invest";
pub const TERMS: &str = "terms-of-service";
pub const PRIVACY: &str = "privacy-policy";

/// An unknown path is a compile error.
const fn at(path: &str) -> Endpoint {
    let mut position = 0;
    while position < SURFACE.len() {
        if equal(SURFACE[position].path, path) {
            return SURFACE[position];
        }
        position += 1;
    }
    panic!("the endpoint list has no such path")
}

const fn equal(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len() != right.len() {
        return false;
    }
    let mut position = 0;
    while position < left.len() {
        if left[position] != right[position] {
            return false;
        }
        position += 1;
    }
    true
}

/// The URL of a page. A page that the operator's content lacks is replaced by the home page, so
/// that no link is broken.
pub fn page(facts: &SiteFacts, name: &str) -> String {
    let catalog = &facts.catalog;
    let found = catalog.page(name, catalog.site.default_language());
    facts.url(found.map_or("/", |page| page.front.path.as_str()))
}

/// The URL of the page as Markdown.
pub fn page_markdown(facts: &SiteFacts, name: &str) -> String {
    let catalog = &facts.catalog;
    let found = catalog.page(name, catalog.site.default_language());
    facts.url(&found.map_or_else(|| GUIDE.path.to_owned(), |page| page.markdown_path()))
}

/// The domain of the site, or `localhost` for an IP address.
pub fn domain(facts: &SiteFacts) -> String {
    let base = facts.base_url.as_str();
    let authority = base.split_once("://").map_or(base, |(_, rest)| rest);
    let authority = authority.split('/').next().unwrap_or_default();
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    if host.is_empty() || host.starts_with('[') || host.parse::<IpAddr>().is_ok() {
        "localhost".to_owned()
    } else {
        host.to_ascii_lowercase()
    }
}

/// The date of the newest page.
pub fn newest_day(facts: &SiteFacts) -> &str {
    let days = facts.catalog.pages.iter().map(|page| page.front.updated.as_str());
    days.max().unwrap_or(CONTRACT_DATE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::fixtures;

    #[test]
    fn the_domain_is_the_host_name_or_localhost() {
        let mut facts = fixtures::site_facts();
        let cases = [
            ("https://shop.example.org", "shop.example.org"),
            ("https://Shop.example.org:8443", "shop.example.org"),
            ("http://localhost:8402", "localhost"),
            ("http://127.0.0.1:8402", "localhost"),
            ("http://[::1]:8402", "localhost"),
            ("http://[::1]", "localhost"),
        ];
        for (base_url, expected) in cases {
            facts.base_url = base_url.to_owned();
            assert_eq!(domain(&facts), expected, "{base_url}");
        }
    }

    #[test]
    fn every_linked_page_exists() {
        let facts = fixtures::site_facts();
        let pages =
            [DOCS, DEVELOPERS, MARKETPLACE, SHOP, SEND, SUPPORT, CONTACT, INVEST, TERMS, PRIVACY];
        for name in pages {
            assert_ne!(page(&facts, name), facts.url("/"), "{name}");
        }
        assert_eq!(page(&facts, "moon"), facts.url("/"));
    }
}
