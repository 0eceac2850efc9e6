//! `/.well-known/agentic-commerce.json`: what can be bought here, how, and what is not supported.

use serde_json::{Value, json};

use crate::discovery::links;
use crate::discovery::shop::quote::{ShopRail, X402_VERSION};
use crate::site_facts::SiteFacts;

pub fn document(facts: &SiteFacts) -> Value {
    let site = &facts.catalog.site;
    json!({
        "version": "1",
        "name": site.name,
        "url": facts.base_url,
        "updated_at": format!("{}T00:00:00Z", links::newest_day(facts)),
        "merchant": {
            "name": site.legal_name,
            "email": site.email,
            "terms_of_service": links::page(facts, links::TERMS),
            "privacy_policy": links::page(facts, links::PRIVACY),
        },
        "capabilities": {
            "product_feed": true,
            "checkout_challenge": true,
            "payment_capture": false,
        },
        "endpoints": {
            "product_feed": facts.url(links::FEED.path),
            "checkout": facts.url(&format!("{}?sku={{product_slug}}", links::CHECKOUT.path)),
            "openapi": facts.url(links::OPENAPI.path),
            "api_catalog": facts.url(links::API_CATALOG.path),
            "mcp": facts.url(links::MCP.path),
            "paid_services": facts.url(links::SERVICE_CATALOG.path),
        },
        "payment_protocols": ShopRail::ALL.map(protocol),
        "not_supported": ["acp-checkout", "ucp-checkout", "ap2-mandates"],
    })
}

fn protocol(rail: ShopRail) -> Value {
    let mut protocol = json!({
        "protocol": rail.name(),
        "assets": [rail.currency()],
        "status": rail.status(),
    });
    match rail {
        ShopRail::X402 => protocol["version"] = X402_VERSION.into(),
        ShopRail::Lightning | ShopRail::Bitcoin => {}
    }
    protocol
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::fixtures;

    #[test]
    fn the_document_promises_a_feed_and_a_challenge_and_no_capture() {
        let facts = fixtures::site_facts();
        let document = document(&facts);
        fixtures::has_members(&document, &["version", "name", "url", "merchant", "endpoints"]);
        fixtures::has_no_relative_address(&document);
        assert_eq!(document["capabilities"]["payment_capture"], false);
        assert_eq!(document["endpoints"]["product_feed"], facts.url("/shop/feed.json"));
        let checkout = facts.url("/shop/checkout?sku={product_slug}");
        assert_eq!(document["endpoints"]["checkout"], checkout);
        assert_eq!(fixtures::list(&document["payment_protocols"]).len(), 3);
    }
}
