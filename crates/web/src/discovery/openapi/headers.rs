//! The response headers that callers act upon.

use serde_json::{Map, Value, json};

use crate::discovery::openapi::{named, reference};

/// What support asks for. Every answer has one; it is told where we are at fault.
pub(super) const PLAIN: &[&str] = &["X-Request-Id"];
/// What every document carries.
pub(super) const KEPT: &[&str] = &["ETag"];
/// What every answer of a counted route carries.
pub(super) const COUNTED: &[&str] = &["RateLimit", "RateLimit-Policy", "X-Service-API-Version"];

const QUOTA: &str = "Quota";
const POLICY: &str = "Policy";
const VERSION: &str = "Version";

/// References to headers by their names, as a response holds them.
pub(super) fn of(lists: &[&[&str]]) -> Map<String, Value> {
    let names = lists.iter().flat_map(|list| list.iter());
    names.map(|name| ((*name).to_owned(), reference("headers", component(name)))).collect()
}

/// A header's name among the components. Those of counted routes stand in every
/// answer of theirs, so theirs are short.
fn component(name: &str) -> &str {
    match name {
        "RateLimit" => QUOTA,
        "RateLimit-Policy" => POLICY,
        "X-Service-API-Version" => VERSION,
        other => other,
    }
}

pub(super) fn headers() -> Map<String, Value> {
    let mut headers = about_requests();
    headers.extend(about_payments());
    headers
}

fn about_requests() -> Map<String, Value> {
    named([
        (
            QUOTA,
            text(
                "What is left of the shared quota, and the seconds until it is full again.",
                "\"public-discovery\";r=599;t=60",
            ),
        ),
        (
            POLICY,
            text(
                "The quota that all callers share: requests and seconds.",
                "\"public-discovery\";q=600;w=60",
            ),
        ),
        (
            VERSION,
            json!({
                "description": "The version of the discovery contract that answered.",
                "schema": { "type": "string", "const": "1" },
            }),
        ),
        (
            "Retry-After",
            json!({
                "description": "Seconds to wait before the same request.",
                "schema": { "type": "integer", "minimum": 1 },
                "example": 12,
            }),
        ),
        ("Allow", text("The methods that this address takes.", "POST")),
        (
            "ETag",
            text("The name of this version, for If-None-Match.", "\"5f1c0a9be2d47c3388aa01f2\""),
        ),
        (
            "X-Request-Id",
            text(
                "The name of this request; tell it to support.",
                "4be1c96d0f5a4f0f8a0f4a35e6f6a7c1",
            ),
        ),
    ])
}

fn about_payments() -> Map<String, Value> {
    named([
        (
            "PAYMENT-REQUIRED",
            text(
                "Base64 of the x402 version 2 challenge, JSON with `accepts`.",
                "eyJ4NDAyVmVyc2lvbiI6MiwiYWNjZXB0cyI6W119",
            ),
        ),
        (
            "PAYMENT-RESPONSE",
            text(
                "Base64 of the x402 settlement response. Sent once, with a new settlement or \
                 with one that failed.",
                "eyJzdWNjZXNzIjp0cnVlfQ==",
            ),
        ),
        (
            "Payment-Receipt",
            text(
                "The MPP receipt, base64url JSON. Every later answer about an order paid by MPP repeats it.",
                "eyJzdGF0dXMiOiJzdWNjZXNzIn0",
            ),
        ),
        (
            "WWW-Authenticate",
            text(
                "The MPP challenge, scheme Payment; scheme Bearer for a token.",
                "Payment id=\"9f2c\", realm=\"pennyblack.example\", method=\"evm\", \
                 intent=\"charge\", request=\"eyJhbW91bnQiOiIzNTAwMDAwIn0\"",
            ),
        ),
    ])
}

fn text(says: &str, example: &str) -> Value {
    json!({ "description": says, "schema": { "type": "string" }, "example": example })
}
