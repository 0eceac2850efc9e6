//! Successful responses and challenges.

use order::model::chain::Network;
use order::model::money::CEILING;
use serde_json::{Map, Value, json};

use crate::discovery::openapi::headers::{self, DISCOVERY, ETAG};
use crate::discovery::openapi::parameters::EXAMPLE_ORDER;
use crate::discovery::openapi::references::{merged, named, schema};
use crate::site_facts::SiteFacts;
use crate::surface::ResponseFormat;

const JSON: &str = "application/json";
const PAID: &[&str] = &["PAYMENT-RESPONSE"];
const QUOTED: &[&str] = &["PAYMENT-REQUIRED"];

pub(super) fn responses(facts: &SiteFacts) -> Map<String, Value> {
    merged([cards(), orders(facts), quotes(), counted(), documents(), agents(), texts()])
}

fn cards() -> Map<String, Value> {
    let sent = json!({ "id": EXAMPLE_ORDER, "status": "submitted" });
    let challenge = json!({
        "description": "Not paid, or the payment was invalid or failed without a transfer. The \
                        body has the order context, or is {} if the headers are sufficient. \
                        Browsers may get HTML.",
        "headers": headers::of(&[QUOTED, PAID]),
        "content": {
            JSON: {
                "schema": schema("X402ChallengeBody"),
                "example": { "public_order_id": EXAMPLE_ORDER },
            },
            "text/html": { "schema": { "type": "string" } },
        },
    });
    named([
        ("Preview", without_example("Preview URLs, quotes and warnings.", &[], JSON, "Preview")),
        (
            "SentByX402",
            response(
                "Paid. A repeated request gets the current result without PAYMENT-RESPONSE.",
                &[PAID],
                JSON,
                "SendResult",
                sent.clone(),
            ),
        ),
        (
            "SentByMpp",
            response(
                "Paid. PAYMENT-RESPONSE is for clients of x402.",
                &[&["Payment-Receipt"], PAID],
                JSON,
                "SendResult",
                sent,
            ),
        ),
        ("X402Challenge", challenge),
        (
            "MppChallenge",
            without_example(
                "Not paid, or the credential was rejected without a transfer.",
                &[&["WWW-Authenticate"], QUOTED],
                "application/problem+json",
                "Problem",
            ),
        ),
    ])
}

fn orders(facts: &SiteFacts) -> Map<String, Value> {
    let order = json!({
        "id": EXAMPLE_ORDER,
        "status": "mailed",
        "created_at": "2026-11-15T09:00:00Z",
        "updated_at": "2026-11-16T14:30:00Z",
        "pricing": { "maximum": CEILING.to_string(), "charged": "2.1175", "currency": "USDC" },
        "payment": {
            "protocol": "x402",
            "network": Network::Base.caip2(),
            "asset": Network::Base.usdc().to_string(),
            "amount": "2117500",
            "pay_to": facts.payee.to_string(),
            "transaction": format!("0x{}", "5c".repeat(32)),
            "confirmed_at": "2026-11-15T09:00:12Z",
        },
        "delivery": { "status": "mailed", "updated_at": "2026-11-16T14:30:00Z" },
    });
    named([
        ("Order", response("The order status.", &[], JSON, "Order", order)),
        ("Seller", without_example("The payout address and its evidence.", &[], JSON, "Seller")),
    ])
}

fn quotes() -> Map<String, Value> {
    let description = "A quote. No funds are captured.";
    named([
        ("Quote", without_example(description, &[ETAG, QUOTED], JSON, "Quote")),
        ("CountedQuote", without_example(description, &[DISCOVERY, ETAG, QUOTED], JSON, "Quote")),
        ("HeadQuote", without_body(description, &[DISCOVERY, ETAG, QUOTED])),
    ])
}

fn counted() -> Map<String, Value> {
    let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [] } });
    let all = &[DISCOVERY, ETAG];
    named([
        ("OpenApi", without_example("This document.", all, JSON, "OpenApi")),
        ("ServiceCatalog", without_example("The paid services.", all, JSON, "ServiceCatalog")),
        ("ProductFeed", without_example("All products.", all, JSON, "ProductFeed")),
        ("HeadFound", without_body("Available.", all)),
        (
            "McpAnswer",
            response("A result or an error.", &[DISCOVERY], JSON, "JsonRpcResponse", answer),
        ),
        ("McpAccepted", without_body("Notification accepted; no body.", &[DISCOVERY])),
    ])
}

fn documents() -> Map<String, Value> {
    let document = |description, body| without_example(description, &[ETAG], JSON, body);
    let linkset = ResponseFormat::Linkset.essence();
    named([
        ("AgentCard", document("The agent card.", "AgentCard")),
        ("McpServerCard", document("The server card.", "McpServer")),
        (
            "McpCard",
            without_example(
                "The server card.",
                &[ETAG],
                ResponseFormat::Card.essence(),
                "McpServer",
            ),
        ),
        ("ServerJson", document("The registry entry.", "McpServer")),
        ("Briefing", document("The briefing.", "Briefing")),
        ("ApiCatalog", without_example("The catalog.", &[ETAG], linkset, "Linkset")),
        ("Commerce", document("The index.", "Commerce")),
        ("AiCatalog", document("The catalog.", "AiCatalog")),
        ("AgentSkills", document("The skills.", "AgentSkills")),
        ("ProtectedResource", document("The metadata.", "ProtectedResource")),
        ("AuthorizationServer", document("The metadata.", "AuthorizationServer")),
    ])
}

fn agents() -> Map<String, Value> {
    let registered = json!({
        "registration_id": "reg_5f1c0a9be2d47c33",
        "registration_type": "anonymous",
        "credential_type": "access_token",
        "credential": "an-opaque-token",
        "credential_expires": null,
        "scopes": ["public:read"],
    });
    let revoked = json!({ "revoked": 0 });
    named([
        ("Registered", response("The token.", &[], JSON, "Registration", registered)),
        ("Revoked", response("Nothing to revoke.", &[], JSON, "Revocation", revoked)),
    ])
}

fn texts() -> Map<String, Value> {
    let text = |description: &str, formats: &[ResponseFormat]| {
        let content = formats.iter().map(|format| {
            let entry = json!({ "schema": { "type": "string" } });
            (format.essence().to_owned(), entry)
        });
        let mut response = without_body(description, &[ETAG]);
        response["content"] = content.collect::<Map<_, _>>().into();
        response
    };
    let page_formats = [ResponseFormat::Html, ResponseFormat::Markdown];
    let mut not_found = text("Page not found.", &page_formats);
    not_found["content"][JSON] = json!({ "schema": schema("Error") });
    named([
        ("Page", text("The page; Markdown for `Accept: text/markdown`.", &page_formats)),
        ("NoSuchPage", not_found),
        ("Markdown", text("The whole text.", &[ResponseFormat::Markdown])),
        ("PlainText", text("The whole text.", &[ResponseFormat::Plain])),
        ("Script", text("The whole program.", &[ResponseFormat::Script])),
        ("Xml", text("The whole document.", &[ResponseFormat::Xml])),
    ])
}

/// A response without an example. Documents are free to read, and crawlers read only 64 KB of this
/// document.
pub(super) fn without_example(
    description: &str,
    headers: &[&[&str]],
    media: &str,
    body: &str,
) -> Value {
    let mut response = without_body(description, headers);
    response["content"] = json!({ media: { "schema": schema(body) } });
    response
}

pub(super) fn response(
    description: &str,
    headers: &[&[&str]],
    media: &str,
    body: &str,
    example: Value,
) -> Value {
    let mut response = without_example(description, headers, media, body);
    response["content"][media]["example"] = example;
    response
}

pub(super) fn without_body(description: &str, headers: &[&[&str]]) -> Value {
    let mut response = json!({ "description": description });
    let headers = headers::of(headers);
    if !headers.is_empty() {
        response["headers"] = headers.into();
    }
    response
}
