//! `/.well-known/agentic-commerce.json`: what can be bought here, how, and what is not supported.

use serde_json::{Value, json};

use super::places;
use super::quote::{Rail, X402_VERSION};
use crate::premises::Premises;

pub fn document(premises: &Premises) -> Value {
    let site = &premises.catalog.site;
    json!({
        "version": "1",
        "name": site.name,
        "url": premises.base_url,
        "updated_at": format!("{}T00:00:00Z", places::newest_day(premises)),
        "merchant": {
            "name": site.legal_name,
            "email": site.email,
            "terms_of_service": places::page(premises, places::TERMS),
            "privacy_policy": places::page(premises, places::PRIVACY),
        },
        "capabilities": {
            "product_feed": true,
            "checkout_challenge": true,
            "payment_capture": false,
        },
        "endpoints": {
            "product_feed": premises.url(places::FEED.path),
            "checkout": premises.url(&format!("{}?sku={{product_slug}}", places::CHECKOUT.path)),
            "openapi": premises.url(places::OPENAPI.path),
            "api_catalog": premises.url(places::API_CATALOG.path),
            "mcp": premises.url(places::MCP.path),
            "paid_services": premises.url(places::SERVICE_CATALOG.path),
        },
        "payment_protocols": Rail::ALL.map(protocol),
        "not_supported": ["acp-checkout", "ucp-checkout", "ap2-mandates"],
    })
}

fn protocol(rail: Rail) -> Value {
    let mut protocol = json!({
        "protocol": rail.name(),
        "assets": [rail.currency()],
        "status": rail.status(),
    });
    match rail {
        Rail::X402 => protocol["version"] = X402_VERSION.into(),
        Rail::Lightning | Rail::Bitcoin => {}
    }
    protocol
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::samples;

    #[test]
    fn the_document_promises_a_feed_and_a_challenge_and_no_capture() {
        let premises = samples::premises();
        let document = document(&premises);
        samples::has_members(&document, &["version", "name", "url", "merchant", "endpoints"]);
        samples::has_no_relative_address(&document);
        assert_eq!(document["capabilities"]["payment_capture"], false);
        assert_eq!(document["endpoints"]["product_feed"], premises.url("/shop/feed.json"));
        let checkout = premises.url("/shop/checkout?sku={product_slug}");
        assert_eq!(document["endpoints"]["checkout"], checkout);
        assert_eq!(samples::list(&document["payment_protocols"]).len(), 3);
    }
}
