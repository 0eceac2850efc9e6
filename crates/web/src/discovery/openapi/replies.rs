//! The answers that callers hope for.

use order::model::chain::Network;
use order::model::money::CEILING;
use serde_json::{Map, Value, json};

use crate::discovery::openapi::headers::{self, COUNTED, KEPT};
use crate::discovery::openapi::parameters::EXAMPLE_ORDER;
use crate::discovery::openapi::{merged, named, schema};
use crate::premises::Premises;
use crate::surface::Answer;

const JSON: &str = "application/json";
const PAID: &[&str] = &["PAYMENT-RESPONSE"];
const QUOTED: &[&str] = &["PAYMENT-REQUIRED"];

pub(super) fn replies(premises: &Premises) -> Map<String, Value> {
    merged([cards(premises), orders(premises), quotes(), counted(), documents(), agents(), texts()])
}

fn cards(premises: &Premises) -> Map<String, Value> {
    let sent = json!({ "id": EXAMPLE_ORDER, "status": "submitted" });
    let preview = json!({ "preview_urls": [premises.url("/images/front.png")] });
    let problem = json!({
        "type": "https://paymentauth.org/problems/payment-required",
        "title": "Payment Required",
        "status": 402,
        "detail": "One 4x6 postcard costs 3.50 USDC on Base.",
        "challengeId": "gRxhqqosdVelXpG_SxIBkx6qbqVehFFHaB6jgnGNFJo",
        "public_order_id": EXAMPLE_ORDER,
    });
    let challenge = json!({
        "description": "Not paid, or the payment was invalid or failed with nothing moved. The \
                        body has the order's context, or is {} when the headers say everything. \
                        Browsers may get a page.",
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
        ("Preview", reply("Pictures of the card.", &[], JSON, "Preview", preview)),
        (
            "SentByX402",
            reply(
                "Paid. A repeated request gets the current result without PAYMENT-RESPONSE.",
                &[PAID],
                JSON,
                "SendResult",
                sent.clone(),
            ),
        ),
        (
            "SentByMpp",
            reply(
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
            reply(
                "Not paid, or the credential was rejected with nothing moved.",
                &[&["WWW-Authenticate"], QUOTED],
                "application/problem+json",
                "Problem",
                problem,
            ),
        ),
    ])
}

fn orders(premises: &Premises) -> Map<String, Value> {
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
            "pay_to": premises.payee.to_string(),
            "transaction": format!("0x{}", "5c".repeat(32)),
            "confirmed_at": "2026-11-15T09:00:12Z",
        },
        "delivery": { "status": "mailed", "updated_at": "2026-11-16T14:30:00Z" },
    });
    let seller = json!({
        "username": premises.default_seller,
        "ens_name": format!("{}.{}", premises.default_seller, premises.seller_parent),
        "address": premises.payee.to_string(),
        "networks": [{
            "network": Network::Base.caip2(),
            "coin_type": Network::Base.coin_type(),
            "address": premises.payee.to_string(),
            "source": "chain",
        }],
        "evidence": { "chain_id": 1, "block_number": 23_456_789, "block_tag": "safe" },
        "resolved_at": "2026-11-15T09:00:00Z",
        "valid_until": "2026-11-15T09:01:00Z",
    });
    named([
        ("Order", reply("How far the order is.", &[], JSON, "Order", order)),
        ("Seller", reply("Where the seller is paid.", &[], JSON, "Seller", seller)),
    ])
}

fn quotes() -> Map<String, Value> {
    let says = "A quote. No funds are captured.";
    named([
        ("Quote", itself(says, &[KEPT, QUOTED], JSON, "Quote")),
        ("CountedQuote", itself(says, &[COUNTED, KEPT, QUOTED], JSON, "Quote")),
        ("HeadQuote", empty(says, &[COUNTED, KEPT, QUOTED])),
    ])
}

fn counted() -> Map<String, Value> {
    let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [] } });
    let all = &[COUNTED, KEPT];
    named([
        ("OpenApi", itself("This document.", all, JSON, "OpenApi")),
        ("ServiceCatalog", itself("The paid services.", all, JSON, "ServiceCatalog")),
        ("ProductFeed", itself("All products.", all, JSON, "ProductFeed")),
        ("HeadFound", empty("It is there.", all)),
        ("McpAnswer", reply("A result or an error.", &[COUNTED], JSON, "JsonRpcResponse", answer)),
        ("McpAccepted", empty("A notification was taken; there is no body.", &[COUNTED])),
    ])
}

fn documents() -> Map<String, Value> {
    let document = |says, body| itself(says, &[KEPT], JSON, body);
    let linkset = bare(Answer::Linkset);
    named([
        ("AgentCard", document("The agent card.", "AgentCard")),
        ("McpServerCard", document("The server card.", "McpServer")),
        ("McpCard", itself("The server card.", &[KEPT], bare(Answer::Card), "McpServer")),
        ("ServerJson", document("The registry's description.", "McpServer")),
        ("Briefing", document("The briefing.", "Briefing")),
        ("ApiCatalog", itself("The catalog.", &[KEPT], linkset, "Linkset")),
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
        ("Registered", reply("Here is the token.", &[], JSON, "Registration", registered)),
        ("Revoked", reply("Fine.", &[], JSON, "Revocation", revoked)),
    ])
}

fn texts() -> Map<String, Value> {
    let whole = |says: &str, answers: &[Answer]| {
        let faces = answers.iter().map(|answer| {
            let face = json!({ "schema": { "type": "string" } });
            (bare(*answer).to_owned(), face)
        });
        let mut reply = empty(says, &[KEPT]);
        reply["content"] = faces.collect::<Map<_, _>>().into();
        reply
    };
    let faces = [Answer::Html, Answer::Markdown];
    let mut nowhere = whole("There is no such page.", &faces);
    nowhere["content"][JSON] = json!({ "schema": schema("Error") });
    named([
        ("Page", whole("The page; Markdown for `Accept: text/markdown`.", &faces)),
        ("NoSuchPage", nowhere),
        ("Markdown", whole("The whole text.", &[Answer::Markdown])),
        ("PlainText", whole("The whole text.", &[Answer::Plain])),
        ("Script", whole("The whole program.", &[Answer::Script])),
        ("Xml", whole("The whole document.", &[Answer::Xml])),
    ])
}

/// An answer without an example: documents are free to read, and crawlers do not
/// read an OpenAPI document of more than 64 KB.
pub(super) fn itself(says: &str, headers: &[&[&str]], media: &str, body: &str) -> Value {
    let mut reply = empty(says, headers);
    reply["content"] = json!({ media: { "schema": schema(body) } });
    reply
}

pub(super) fn reply(
    says: &str,
    headers: &[&[&str]],
    media: &str,
    body: &str,
    example: Value,
) -> Value {
    let mut reply = itself(says, headers, media, body);
    reply["content"][media]["example"] = example;
    reply
}

pub(super) fn empty(says: &str, headers: &[&[&str]]) -> Value {
    let mut reply = json!({ "description": says });
    let headers = headers::of(headers);
    if !headers.is_empty() {
        reply["headers"] = headers.into();
    }
    reply
}

/// A media type without its parameters, which generated clients stumble over.
pub(super) fn bare(answer: Answer) -> &'static str {
    let whole = answer.media_type();
    whole.split_once(';').map_or(whole, |(bare, _)| bare)
}
