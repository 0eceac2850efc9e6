//! The product feed, closed as ACP's schema of 2026-04-17 is, and the shop's quotes.

use serde_json::{Map, Value, json};

use super::{address, list, open, text};
use crate::discovery::openapi::{named, schema};

pub(super) fn schemas() -> Map<String, Value> {
    let feed = json!({ "products": list(schema("Product")) });
    let words = json!({ "plain": text(), "html": text(), "markdown": text() });
    let price = json!({
        "amount": { "type": "integer", "minimum": 0, "description": "In cents." },
        "currency": { "type": "string", "pattern": "^[A-Z]{3}$" },
    });
    let media = json!({
        "type": text(),
        "url": address(),
        "alt_text": text(),
        "width": { "type": "integer" },
        "height": { "type": "integer" },
    });
    named([
        ("ProductFeed", closed(&["products"], feed)),
        ("Product", product()),
        ("Variant", variant()),
        ("Description", closed(&[], words)),
        ("Price", closed(&["amount", "currency"], price)),
        ("Media", closed(&["type", "url"], media)),
        ("Quote", quote()),
    ])
}

fn product() -> Value {
    closed(
        &["id", "variants"],
        json!({
            "id": text(),
            "title": text(),
            "description": schema("Description"),
            "url": address(),
            "media": list(schema("Media")),
            "variants": list(schema("Variant")),
        }),
    )
}

fn variant() -> Value {
    let objects = list(json!({ "type": "object" }));
    let availability = json!({ "available": { "type": "boolean" }, "status": text() });
    let seller = json!({ "name": text(), "links": objects });
    closed(
        &["id", "title"],
        json!({
            "id": text(),
            "title": text(),
            "description": schema("Description"),
            "url": address(),
            "barcodes": objects,
            "price": schema("Price"),
            "list_price": schema("Price"),
            "unit_price": { "type": "object" },
            "availability": closed(&[], availability),
            "categories": objects,
            "condition": list(text()),
            "variant_options": objects,
            "media": list(schema("Media")),
            "seller": closed(&[], seller),
            "marketplace": { "type": "object" },
        }),
    )
}

fn quote() -> Value {
    let way = json!({
        "scheme": text(),
        "network": text(),
        "amount": { "type": "string", "pattern": "^[0-9]+$", "description": "In atomic units." },
        "asset": text(),
        "payTo": text(),
        "maxTimeoutSeconds": { "type": "integer" },
        "extra": { "type": "object" },
    });
    let required = ["scheme", "network", "amount", "asset", "payTo", "maxTimeoutSeconds"];
    open(
        &["x402Version", "accepts"],
        json!({
            "x402Version": { "type": "integer", "const": 2 },
            "error": text(),
            "resource": open(&["url"], json!({ "url": address() })),
            "accepts": list(open(&required, way)),
            "rails": list(json!({ "type": "object" })),
            "settles": { "type": "boolean", "const": false },
            "funds_captured": { "type": "boolean", "const": false },
        }),
    )
}

fn closed(required: &[&str], properties: Value) -> Value {
    let mut shape = open(required, properties);
    shape["additionalProperties"] = json!(false);
    shape
}
