//! `/shop/feed.json`: every product, in the closed shape of the ACP feed of 2026-04-17.

use content::product::Product;
use serde_json::{Value, json};

use super::places;
use super::quote::availability;
use crate::premises::Premises;

/// The schema admits no member beside these, and so neither do we.
pub fn document(premises: &Premises) -> Value {
    let seller = seller(premises);
    let products = premises.catalog.products.iter().map(|one| product(premises, one, &seller));
    json!({"products": products.collect::<Vec<_>>()})
}

/// The schema has no slug: the id is one, so that checkout and MCP accept it.
fn product(premises: &Premises, product: &Product, seller: &Value) -> Value {
    let description = json!({"plain": product.summary, "markdown": product.description.trim()});
    let url = premises.url(&product.path());
    let media = json!([{
        "type": "image",
        "url": premises.url(&product.picture_path()),
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

fn seller(premises: &Premises) -> Value {
    let link = |kind: &str, title: &str, page: &str| json!({"type": kind, "title": title, "url": places::page(premises, page)});
    json!({
        "name": premises.catalog.site.legal_name,
        "links": [
            link("terms_of_service", "Terms of service", places::TERMS),
            link("privacy_policy", "Privacy policy", places::PRIVACY),
            link("shipping_policy", "Delivery and returns", places::SHOP),
            link("faq", "Support", places::SUPPORT),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::samples;

    fn holds_only(document: &Value, allowed: &[&str]) {
        for member in document.as_object().unwrap().keys() {
            assert!(allowed.contains(&member.as_str()), "the schema is closed to {member}");
        }
    }

    #[test]
    fn the_feed_holds_what_the_closed_schema_admits_and_nothing_else() {
        let feed = document(&samples::premises());
        holds_only(&feed, &["products"]);
        for product in samples::list(&feed["products"]) {
            holds_only(product, &["id", "variants", "title", "description", "url", "media"]);
            holds_only(&product["description"], &["plain", "html", "markdown"]);
            for variant in samples::list(&product["variants"]) {
                holds_only(variant, VARIANT);
                holds_only(&variant["price"], &["amount", "currency"]);
                holds_only(&variant["availability"], &["available", "status"]);
                holds_only(&variant["categories"][0], &["value", "taxonomy"]);
                holds_only(&variant["media"][0], &["type", "url", "alt_text", "width", "height"]);
                holds_only(&variant["seller"], &["name", "links"]);
                for link in samples::list(&variant["seller"]["links"]) {
                    holds_only(link, &["type", "title", "url"]);
                }
            }
        }
        samples::has_no_relative_address(&feed);
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
    fn every_product_is_in_the_feed_by_its_slug_with_price_and_stock() {
        let premises = samples::premises();
        let feed = document(&premises);
        let products = samples::list(&feed["products"]);
        assert_eq!(products.len(), premises.catalog.products.len());
        for (told, product) in products.iter().zip(&premises.catalog.products) {
            let variant = &told["variants"][0];
            assert_eq!(told["id"], product.slug);
            assert_eq!(variant["id"], product.slug);
            assert_eq!(variant["price"], json!({"amount": product.price_cents, "currency": "EUR"}));
            assert_eq!(variant["availability"]["available"], product.stock > 0);
        }
        let sold_out = products.iter().find(|one| one["id"] == "node-sorting-office").unwrap();
        assert_eq!(sold_out["variants"][0]["availability"]["status"], "out_of_stock");
    }
}
