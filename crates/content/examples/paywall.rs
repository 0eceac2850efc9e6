//! Renders the paywall page for a test: reads an order from standard input and writes the page
//! to standard output.

use std::error::Error;
use std::io::{Read, Write};

use content::catalog::Catalog;
use content::render::{
    CardLimits, Money, PayableNetwork, Paywall, RenderContext, Renderer, UnpaidRequest,
};
use content::site::Language;
use serde_json::Value;

/// The paths that the content links to and that are not pages.
const OTHER_PATHS: &[&str] = &[
    "/llms.txt",
    "/auth.md",
    "/openapi.json",
    "/shop/feed.json",
    "/.well-known/security.txt",
    "/.well-known/api-catalog",
    "/api",
    "/api/x402",
    "/sitemap.xml",
    "/shop/checkout",
    "/client/pennyblack.mjs",
    "/client/pennyblack.mjs.sha256",
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut given = String::new();
    std::io::stdin().read_to_string(&mut given)?;
    let order: Value = serde_json::from_str(&given)?;
    let catalog = Catalog::built_in(OTHER_PATHS).map_err(|faults| format!("{faults:?}"))?;
    let context = RenderContext {
        base_url: text(&order["base_url"])?.to_owned(),
        style: "/assets/style.css".to_owned(),
        script: "/assets/webmcp.js".to_owned(),
        paywall: ["wallet", "signed_payment", "payment_view", "paywall"]
            .map(|name| format!("/assets/{name}.js"))
            .to_vec(),
        send_scripts: vec!["/assets/send.js".to_owned()],
        order_script: "/assets/order.js".to_owned(),
        card_limits: CardLimits { message_characters: 1_000, line_characters: 100 },
        picture_origin: "https://penny.example".to_owned(),
        endpoint_list: String::new(),
        example_body: String::new(),
        client_sha256: String::new(),
        open: vec!["x402", "mpp", "preview"],
        networks: "eip155:8453".to_owned(),
        money: Money::Real,
    };
    let renderer = Renderer::new(&catalog, context).map_err(|fault| fault.to_string())?;
    let page = renderer.paywall().map_err(|fault| fault.to_string())?;
    let accepts = order["challenge"]["accepts"].as_array().ok_or("challenge.accepts is missing")?;
    let networks: Result<Vec<_>, Box<dyn Error>> = accepts
        .iter()
        .map(|offer| {
            let caip2 = text(&offer["network"])?;
            let (payee, asset) = (text(&offer["payTo"])?, text(&offer["asset"])?);
            let node = order["nodes"][caip2].as_str();
            Ok(PayableNetwork { name: name(caip2), caip2, payee, asset, node })
        })
        .collect();
    let language = order["language"].as_str().and_then(Language::from_code);
    let html = page.write(
        language.unwrap_or(Language::En),
        &Paywall {
            order: text(&order["order"])?,
            maximum: text(&order["most"])?,
            quoted: order["quoted"].as_str(),
            networks: &networks?,
            challenge: &order["challenge"].to_string(),
            request: UnpaidRequest {
                path: "/api/x402/postcards",
                body: text(&order["body"])?,
                idempotency_key: order["idempotency_key"].as_str(),
                quote_id: order["quote_id"].as_str(),
            },
            money: if order["play"] == Value::Bool(true) { Money::Play } else { Money::Real },
        },
    );
    std::io::stdout().write_all(html.map_err(|fault| fault.to_string())?.as_bytes())?;
    Ok(())
}

fn text(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| format!("{value} is not text"))
}

fn name(caip2: &str) -> &str {
    match caip2 {
        "eip155:8453" => "Base",
        "eip155:137" => "Polygon",
        "eip155:42161" => "Arbitrum",
        other => other,
    }
}
