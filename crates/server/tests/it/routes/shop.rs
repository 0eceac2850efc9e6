//! `/shop/feed.json` and `/shop/checkout`.

use crate::fixture::test_app::TestApp;

#[test]
fn every_product_of_the_feed_has_a_quote_and_a_page() {
    let app = TestApp::start("");
    let feed = app.get("/shop/feed.json").json();
    let products = feed["products"].as_array().unwrap();
    assert!(products.len() >= 8);
    for product in products {
        let id = product["id"].as_str().unwrap();
        let tag = app.get(&format!("/shop/checkout?sku={id}"));
        assert_eq!((tag.status, tag.header("content-type")), (402, "application/json"), "{id}");
        assert!(!tag.header("payment-required").is_empty(), "{id}");
        assert_eq!(tag.json()["x402Version"], 2, "{id}");
        assert_eq!(app.get(&format!("/shop/{id}")).status, 200, "{id}");
        let picture = app.get(&format!("/shop/pictures/{id}.svg"));
        assert_eq!((picture.status, picture.header("content-type")), (200, "image/svg+xml"));
    }
}

#[test]
fn an_unknown_product_is_404_and_a_missing_one_400() {
    let app = TestApp::start("");
    for (query, status, code) in [
        ("?sku=moon", 404, "sku_unknown"),
        ("", 400, "sku_missing"),
        ("?sku=", 400, "sku_missing"),
        ("?slug=signer-mini", 400, "sku_missing"),
        ("?sku=signer-mini&sku=signer-pane", 400, "sku_missing"),
    ] {
        let reply = app.get(&format!("/shop/checkout{query}"));
        assert_eq!(reply.status, status, "{query}");
        assert_eq!(reply.json()["error"]["code"], code, "{query}");
    }
}
