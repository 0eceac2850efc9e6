//! What callers put into addresses and request headers.

use serde_json::{Map, Value, json};

use crate::discovery::openapi::named;
use crate::premises::Premises;

/// 32 lowercase hexadecimal characters, as the contract writes them.
pub(super) const ORDER_ID: &str = "^[a-f0-9]{32}$";
/// An identifier of the caller's own.
pub(super) const OPERATION_ID: &str = "^[A-Za-z0-9_-]{16,128}$";
pub(super) const EXAMPLE_ORDER: &str = "9f2c1e7ab04d4d6c8a53f0e1d2b7c694";
/// A product that shops without goods can show too.
const EXAMPLE_SLUG: &str = "signer-mini";

pub(super) fn parameters(premises: &Premises) -> Map<String, Value> {
    let mut parameters = places(premises);
    parameters.extend(request_headers());
    parameters
}

fn places(premises: &Premises) -> Map<String, Value> {
    let slug = premises.catalog.products.first().map_or(EXAMPLE_SLUG, |product| &product.slug);
    named([
        (
            "publicOrderId",
            json!({
                "name": "publicOrderId",
                "in": "path",
                "required": true,
                "description": "`public_order_id` of a challenge, or `id` of a paid answer.",
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
                    "A seller: `alice`, `@alice` or `alice.{}`.", premises.seller_parent
                ),
                "schema": { "type": "string", "minLength": 1, "maxLength": 255 },
                "example": premises.default_seller,
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
                    "Your own identifier of the operation. Without one, the same card from the same \
                     seller is the same operation.",
                "schema": { "type": "string", "pattern": OPERATION_ID },
                "example": "birthday-2026-ada",
            }),
        ),
        header("PAYMENT-SIGNATURE", "Base64 of the x402 version 2 payment payload."),
        header("X-Payment", "Another name for PAYMENT-SIGNATURE."),
        header(
            "Payment-Authorization",
            "The MPP credential, where Authorization is taken by something else.",
        ),
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
                    "The version of the MCP transport, as `initialize` agreed on it. It has \
                     nothing to do with X-Service-API-Version.",
                "schema": { "type": "string" },
                "example": "2025-11-25",
            }),
        ),
    ])
}

fn header(name: &'static str, says: &str) -> (&'static str, Value) {
    let schema = json!({ "type": "string" });
    (name, json!({ "name": name, "in": "header", "description": says, "schema": schema }))
}
