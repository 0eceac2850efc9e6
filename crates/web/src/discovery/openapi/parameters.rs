//! Path parameters, query parameters and request headers.

use serde_json::{Map, Value, json};

use crate::discovery::openapi::references::named;
use crate::site_facts::SiteFacts;

/// The pattern of the contract.
pub(super) const ORDER_ID: &str = "^[a-f0-9]{32}$";
/// The caller's own identifier.
pub(super) const OPERATION_ID: &str = "^[A-Za-z0-9_-]{16,128}$";
pub(super) const QUOTE_ID: &str = "^[a-f0-9]{64}$";
pub(super) const EXAMPLE_ORDER: &str = "9f2c1e7ab04d4d6c8a53f0e1d2b7c694";
/// The example if the catalog has no products.
const EXAMPLE_SLUG: &str = "signer-mini";

pub(super) fn parameters(facts: &SiteFacts) -> Map<String, Value> {
    let mut parameters = path_parameters(facts);
    parameters.extend(request_headers());
    parameters
}

fn path_parameters(facts: &SiteFacts) -> Map<String, Value> {
    let slug = facts.catalog.products.first().map_or(EXAMPLE_SLUG, |product| &product.slug);
    named([
        (
            "publicOrderId",
            json!({
                "name": "publicOrderId",
                "in": "path",
                "required": true,
                "description": "`public_order_id` of a challenge, or `id` of a paid response.",
                "schema": { "type": "string", "pattern": ORDER_ID },
                "example": EXAMPLE_ORDER,
            }),
        ),
        (
            "username",
            json!({
                "name": "username",
                "in": "path",
                "required": true,
                "description": format!(
                    "A seller: `alice`, `@alice` or `alice.{}`.", facts.seller_parent
                ),
                "schema": { "type": "string", "minLength": 1, "maxLength": 255 },
                "example": facts.default_seller,
            }),
        ),
        (
            "slug",
            json!({
                "name": "slug",
                "in": "path",
                "required": true,
                "description": "The id of a product in /shop/feed.json.",
                "schema": { "type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$" },
                "example": slug,
            }),
        ),
        (
            "sku",
            json!({
                "name": "sku",
                "in": "query",
                "required": true,
                "description": "The id of a product in /shop/feed.json.",
                "schema": { "type": "string", "minLength": 1 },
                "example": slug,
            }),
        ),
    ])
}

fn request_headers() -> Map<String, Value> {
    named([
        (
            "X-Service-API-Version",
            json!({
                "name": "X-Service-API-Version",
                "in": "header",
                "description": "The version of the discovery contract. Any other value answers 400.",
                "schema": { "type": "string", "enum": ["1"], "default": "1" },
            }),
        ),
        (
            "Idempotency-Key",
            json!({
                "name": "Idempotency-Key",
                "in": "header",
                "description":
                    "Your identifier of the operation, such as a random UUID: all callers of a \
                     seller share these identifiers. Without it, the same card from the same \
                     seller is the same operation.",
                "schema": { "type": "string", "pattern": OPERATION_ID },
                "example": "6a1c9f2e-52d7-4b0e-9c84-3f7d1e0b5a96",
            }),
        ),
        (
            "Quote-Id",
            json!({
                "name": "Quote-Id",
                "in": "header",
                "description":
                    "The id of a preview's quote, which the charge does not exceed.",
                "schema": { "type": "string", "pattern": QUOTE_ID },
            }),
        ),
        header("PAYMENT-SIGNATURE", "Base64 of the x402 version 2 payment payload."),
        header("X-Payment", "Another name for PAYMENT-SIGNATURE."),
        header("Payment-Authorization", "The MPP credential, if Authorization is in use."),
        header(
            "Payment-Signature",
            "Another name for Payment-Authorization; or base64 of an x402 version 2 payload of \
             scheme exact.",
        ),
        (
            "MCP-Protocol-Version",
            json!({
                "name": "MCP-Protocol-Version",
                "in": "header",
                "description":
                    "The MCP protocol version that `initialize` negotiated. Independent of \
                     X-Service-API-Version.",
                "schema": { "type": "string" },
                "example": "2025-11-25",
            }),
        ),
    ])
}

fn header(name: &'static str, description: &str) -> (&'static str, Value) {
    let schema = json!({ "type": "string" });
    (name, json!({ "name": name, "in": "header", "description": description, "schema": schema }))
}
