//! The addresses that documents point to, held against the surface when this is compiled.

use std::net::IpAddr;

use crate::premises::{CONTRACT_DATE, Premises};
use crate::surface::{Answer, Endpoint, SURFACE};

pub const PREVIEW: Endpoint = at("/api/x402/postcards/preview");
pub const SEND_BY_X402: Endpoint = at("/api/x402/postcards");
pub const SEND_BY_MPP: Endpoint = at("/api/mpp/postcards");
pub const ORDER: Endpoint = at("/api/x402/orders/{publicOrderId}");
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
pub const MCP_CARD_BESIDE: Endpoint = at("/mcp/server-card");
pub const REGISTER: Endpoint = at("/agent/auth");
pub const CLAIM: Endpoint = at("/agent/auth/claim");
pub const REVOKE: Endpoint = at("/agent/auth/revoke");
pub const AUTH_GUIDE: Endpoint = at("/auth.md");
pub const GUIDE: Endpoint = at("/llms.txt");
pub const SERVER_JSON: Endpoint = at("/server.json");
pub const AI_CATALOG: Endpoint = at("/.well-known/ai-catalog.json");
pub const SECURITY: Endpoint = at("/.well-known/security.txt");
pub const SITEMAP: Endpoint = at("/sitemap.xml");

/// Whether we are alive; it stands beside the surface, as no visitor needs it.
pub const HEALTH_PATH: &str = "/healthz";
pub const ICON_PATH: &str = "/favicon.svg";

/// The pages that documents speak of, by name.
pub const DOCS: &str = "docs";
pub const DEVELOPERS: &str = "developers";
pub const MARKETPLACE: &str = "docs-x402-username-marketplace";
pub const SHOP: &str = "shop";
pub const SUPPORT: &str = "support";
pub const CONTACT: &str = "contact";
pub const INVEST: &str = "invest";
pub const TERMS: &str = "terms-of-service";
pub const PRIVACY: &str = "privacy-policy";

/// An address that the surface does not have is a document that does not compile.
const fn at(path: &str) -> Endpoint {
    let mut place = 0;
    while place < SURFACE.len() {
        if same(SURFACE[place].path, path) {
            return SURFACE[place];
        }
        place += 1;
    }
    panic!("the surface has no such address")
}

const fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len() != right.len() {
        return false;
    }
    let mut place = 0;
    while place < left.len() {
        if left[place] != right[place] {
            return false;
        }
        place += 1;
    }
    true
}

/// The address of a page. One that the operator's own words leave out is
/// replaced by the front door, so that no document leads into the void.
pub fn page(premises: &Premises, name: &str) -> String {
    let catalog = &premises.catalog;
    let found = catalog.page(name, catalog.site.default_language());
    premises.url(found.map_or("/", |page| page.front.path.as_str()))
}

/// The same page as Markdown.
pub fn page_markdown(premises: &Premises, name: &str) -> String {
    let catalog = &premises.catalog;
    let found = catalog.page(name, catalog.site.default_language());
    premises.url(&found.map_or_else(|| GUIDE.path.to_owned(), |page| page.markdown_path()))
}

/// The media type without its parameters, as links write it.
pub fn essence(answer: Answer) -> &'static str {
    let whole = answer.media_type();
    whole.split_once(';').map_or(whole, |(essence, _)| essence)
}

/// The domain that we speak for. An address without a name speaks for this
/// machine alone.
pub fn domain(premises: &Premises) -> String {
    let base = premises.base_url.as_str();
    let authority = base.split_once("://").map_or(base, |(_, rest)| rest);
    let authority = authority.split('/').next().unwrap_or_default();
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    if host.is_empty() || host.starts_with('[') || host.parse::<IpAddr>().is_ok() {
        "localhost".to_owned()
    } else {
        host.to_ascii_lowercase()
    }
}

/// The day on which a page was changed last.
pub fn newest_day(premises: &Premises) -> &str {
    let days = premises.catalog.pages.iter().map(|page| page.front.updated.as_str());
    days.max().unwrap_or(CONTRACT_DATE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::samples;

    #[test]
    fn the_domain_is_the_host_and_an_address_without_a_name_is_this_machine() {
        let mut premises = samples::premises();
        let cases = [
            ("https://shop.example.org", "shop.example.org"),
            ("https://Shop.example.org:8443", "shop.example.org"),
            ("http://localhost:8402", "localhost"),
            ("http://127.0.0.1:8402", "localhost"),
            ("http://[::1]:8402", "localhost"),
            ("http://[::1]", "localhost"),
        ];
        for (base_url, expected) in cases {
            premises.base_url = base_url.to_owned();
            assert_eq!(domain(&premises), expected, "{base_url}");
        }
    }

    #[test]
    fn every_page_that_documents_speak_of_exists() {
        let premises = samples::premises();
        let pages = [DOCS, DEVELOPERS, MARKETPLACE, SHOP, SUPPORT, CONTACT, INVEST, TERMS, PRIVACY];
        for name in pages {
            assert_ne!(page(&premises, name), premises.url("/"), "{name}");
        }
        assert_eq!(page(&premises, "moon"), premises.url("/"));
    }
}
