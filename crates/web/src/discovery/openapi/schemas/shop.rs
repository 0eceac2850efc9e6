//! The product feed, closed as ACP's schema of 2026-04-17 is, and the shop's quotes.

use serde_json::{Map, Value, json};

use super::types::{list, object, string, url};
use crate::discovery::openapi::references::{named, schema};

pub(super) fn schemas() -> Map<String, Value> {
    let feed = json!({ "products": list(schema("Product")) });
    let description = json!({ "plain": string(), "html": string(), "markdown": string() });
    let price = json!({
        "amount": { "type": "integer", "minimum": 0, "description": "In cents." },
        "currency": { "type": "string", "pattern": "^[A-Z]{3}$" },
    });
    let media = json!({
        "type": string(),
        "url": url(),
        "alt_text": string(),
        "width": { "type": "integer" },
        "height": { "type": "integer" },
    });
    named([
        ("ProductFeed", closed(&["products"], feed)),
        ("Product", product()),
        ("Variant", variant()),
        ("Description", closed(&[], description)),
        ("Price", closed(&["amount", "currency"], price)),
        ("Media", closed(&["type", "url"], media)),
        ("Quote", quote()),
    ])
}

fn product() -> Value {
    closed(
        &["id", "variants"],
        json!({
            "id": string(),
            "title": string(),
            "description": schema("Description"),
            "url": url(),
            "media": list(schema("Media")),
            "variants": list(schema("Variant")),
        }),
    )
}

fn variant() -> Value {
    let objects = list(json!({ "type": "object" }));
    let availability = json!({ "available": { "type": "boolean" }, "status": string() });
    let seller = json!({ "name": string(), "links": objects });
    closed(
        &["id", "title"],
        json!({
            "id": string(),
            "title": string(),
            "description": schema("Description"),
            "url": url(),
            "barcodes": objects,
            "price": schema("Price"),
            "list_price": schema("Price"),
            "unit_price": { "type": "object" },
            "availability": closed(&[], availability),
            "categories": objects,
            "condition": list(string()),
            "variant_options": objects,
            "media": list(schema("Media")),
            "seller": closed(&[], seller),
            "marketplace": { "type": "object" },
        }),
    )
}

fn quote() -> Value {
    let way = json!({
        "scheme": string(),
        "network": string(),
        "amount": { "type": "string", "pattern": "^[0-9]+$", "description": "In atomic units." },
        "asset": string(),
        "payTo": string(),
        "maxTimeoutSeconds": { "type": "integer" },
        "extra": { "type": "object" },
    });
    let required = ["scheme", "network", "amount", "asset", "payTo", "maxTimeoutSeconds"];
    object(
        &["x402Version", "accepts"],
        json!({
            "x402Version": { "type": "integer", "const": 2 },
            "error": string(),
            "resource": object(&["url"], json!({ "url": url() })),
            "accepts": list(object(&required, way)),
            "rails": list(json!({ "type": "object" })),
            "settles": { "type": "boolean", "const": false },
            "funds_captured": { "type": "boolean", "const": false },
        }),
    )
}

fn closed(required: &[&str], properties: Value) -> Value {
    let mut shape = object(required, properties);
    shape["additionalProperties"] = json!(false);
    shape
}
