//! `/shop/feed.json`: every product, in the closed shape of the ACP feed of 2026-04-17.

use content::product::Product;
use serde_json::{Value, json};

use crate::discovery::links;
use crate::discovery::shop::quote::availability;
use crate::site_facts::SiteFacts;

/// The schema admits no member beside these, and so neither do we.
pub fn document(facts: &SiteFacts) -> Value {
    let seller = seller(facts);
    let products = facts.catalog.products.iter().map(|one| product(facts, one, &seller));
    json!({"products": products.collect::<Vec<_>>()})
}

/// The schema has no slug: the id is one, so that checkout and MCP accept it.
fn product(facts: &SiteFacts, product: &Product, seller: &Value) -> Value {
    let description = json!({"plain": product.summary, "markdown": product.description.trim()});
    let url = facts.url(&product.path());
    let media = json!([{
        "type": "image",
        "url": facts.url(&product.picture_path()),
        "alt_text": product.picture_alt,
        "width": 640,
        "height": 480,
    }]);
    json!({
        "id": product.slug,
        "title": product.name,
        "description": description,
        "url": url,
        "media": media,
        "variants": [{
            "id": product.slug,
            "title": product.name,
            "description": description,
            "url": url,
            "price": {"amount": product.price_cents, "currency": "EUR"},
            "availability": {
                "available": product.is_available(),
                "status": availability(product),
            },
            "categories": [{"value": product.kind, "taxonomy": "merchant"}],
            "condition": [product.condition],
            "media": media,
            "seller": seller,
        }],
    })
}

fn seller(facts: &SiteFacts) -> Value {
    let link = |kind: &str, title: &str, page: &str| json!({"type": kind, "title": title, "url": links::page(facts, page)});
    json!({
        "name": facts.catalog.site.legal_name,
        "links": [
            link("terms_of_service", "Terms of service", links::TERMS),
            link("privacy_policy", "Privacy policy", links::PRIVACY),
            link("shipping_policy", "Delivery and returns", links::SHOP),
            link("faq", "Support", links::SUPPORT),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::fixtures;

    fn has_only(document: &Value, allowed: &[&str]) {
        for member in document.as_object().unwrap().keys() {
            assert!(allowed.contains(&member.as_str()), "the schema is closed to {member}");
        }
    }

    #[test]
    fn the_feed_has_only_members_of_the_closed_schema() {
        let feed = document(&fixtures::site_facts());
        has_only(&feed, &["products"]);
        for product in fixtures::list(&feed["products"]) {
            has_only(product, &["id", "variants", "title", "description", "url", "media"]);
            has_only(&product["description"], &["plain", "html", "markdown"]);
            for variant in fixtures::list(&product["variants"]) {
                has_only(variant, VARIANT);
                has_only(&variant["price"], &["amount", "currency"]);
                has_only(&variant["availability"], &["available", "status"]);
                has_only(&variant["categories"][0], &["value", "taxonomy"]);
                has_only(&variant["media"][0], &["type", "url", "alt_text", "width", "height"]);
                has_only(&variant["seller"], &["name", "links"]);
                for link in fixtures::list(&variant["seller"]["links"]) {
                    has_only(link, &["type", "title", "url"]);
                }
            }
        }
        fixtures::has_no_relative_address(&feed);
    }

    const VARIANT: &[&str] = &[
        "id",
        "title",
        "description",
        "url",
        "barcodes",
        "price",
        "list_price",
        "unit_price",
        "availability",
        "categories",
        "condition",
        "variant_options",
        "media",
        "seller",
        "marketplace",
    ];

    #[test]
    fn every_product_is_in_the_feed_with_slug_price_and_stock() {
        let facts = fixtures::site_facts();
        let feed = document(&facts);
        let products = fixtures::list(&feed["products"]);
        assert_eq!(products.len(), facts.catalog.products.len());
        for (entry, product) in products.iter().zip(&facts.catalog.products) {
            let variant = &entry["variants"][0];
            assert_eq!(entry["id"], product.slug);
            assert_eq!(variant["id"], product.slug);
            assert_eq!(variant["price"], json!({"amount": product.price_cents, "currency": "EUR"}));
            assert_eq!(variant["availability"]["available"], product.stock > 0);
        }
        let sold_out = products.iter().find(|one| one["id"] == "node-sorting-office").unwrap();
        assert_eq!(sold_out["variants"][0]["availability"]["status"], "out_of_stock");
    }
}
