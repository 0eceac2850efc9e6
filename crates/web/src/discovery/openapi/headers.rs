//! The response headers that callers act upon.

use serde_json::{Map, Value, json};

use crate::discovery::openapi::references::{named, reference};

/// For support requests. Every response has it; it is listed where the server is at fault.
pub(super) const REQUEST_ID: &[&str] = &["X-Request-Id"];
/// The headers of every document.
pub(super) const ETAG: &[&str] = &["ETag"];
/// The headers of every response of a discovery route.
pub(super) const DISCOVERY: &[&str] = &["RateLimit", "RateLimit-Policy", "X-Service-API-Version"];

const QUOTA: &str = "Quota";
const POLICY: &str = "Policy";
const VERSION: &str = "Version";

/// References to headers by their names, as a response holds them.
pub(super) fn of(lists: &[&[&str]]) -> Map<String, Value> {
    let names = lists.iter().flat_map(|list| list.iter());
    names.map(|name| ((*name).to_owned(), reference("headers", component(name)))).collect()
}

/// The component name of a header. Those of discovery routes are short, because every response of
/// those routes refers to them.
fn component(name: &str) -> &str {
    match name {
        "RateLimit" => QUOTA,
        "RateLimit-Policy" => POLICY,
        "X-Service-API-Version" => VERSION,
        other => other,
    }
}

pub(super) fn headers() -> Map<String, Value> {
    let mut headers = request_headers();
    headers.extend(payment_headers());
    headers
}

fn request_headers() -> Map<String, Value> {
    named([
        (
            QUOTA,
            text(
                "Requests left in the shared quota, and the seconds until it resets.",
                "\"public-discovery\";r=599;t=60",
            ),
        ),
        (
            POLICY,
            text(
                "The quota that all callers share: requests and window in seconds.",
                "\"public-discovery\";q=600;w=60",
            ),
        ),
        (
            VERSION,
            json!({
                "description": "The version of the discovery contract.",
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
        ("Allow", text("The supported methods.", "POST")),
        ("ETag", text("The entity tag, for If-None-Match.", "\"5f1c0a9be2d47c3388aa01f2\"")),
        (
            "X-Request-Id",
            text("The id of this request, for support.", "4be1c96d0f5a4f0f8a0f4a35e6f6a7c1"),
        ),
    ])
}

fn payment_headers() -> Map<String, Value> {
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

fn text(description: &str, example: &str) -> Value {
    json!({ "description": description, "schema": { "type": "string" }, "example": example })
}
