//! `get_postcard_service_info`: how a postcard is bought, without buying one.

use order::model::chain::Network;
use order::model::money::CEILING;
use serde_json::{Value, json};

use super::product::price_schema;
use super::tool::{Tool, ToolContent, ToolInput, list, object, string};
use crate::discovery::links;
use crate::mcp::public_content::PublicContent;
use crate::site_facts::SiteFacts;
use crate::surface::{Endpoint, OptionalService};

/// How an agent leaves the payment to a person.
const HAND_OFF: &str = "To let a person review and pay, append the request body as JSON in \
    base64url to url and give them the link. It opens a form with the card filled in. The \
    fragment never reaches the server.";

pub(crate) struct GetPostcardServiceInfo;

impl Tool for GetPostcardServiceInfo {
    fn name(&self) -> &'static str {
        "get_postcard_service_info"
    }

    fn title(&self) -> &'static str {
        "Get postcard service info"
    }

    fn description(&self) -> &'static str {
        "Describe the paid postcard service: price ceiling, payment protocols and networks, \
         required request fields and endpoints. Does not order, pay or preview anything."
    }

    fn example(&self) -> &'static str {
        "What does a postcard cost, and how is it paid?"
    }

    fn input(&self) -> ToolInput {
        ToolInput { properties: json!({}), required: &[] }
    }

    fn output(&self) -> Value {
        let protocol =
            object(&[("name", string()), ("endpoint", string()), ("networks", list(&string()))]);
        object(&[
            ("product", string()),
            ("mode", json!({ "type": "string", "enum": ["live", "sandbox"] })),
            ("max_price", price_schema()),
            ("payment_protocols", list(&protocol)),
            ("preview_endpoint", json!({ "type": ["string", "null"] })),
            ("order_status_endpoint", string()),
            ("hand_off", object(&[("url", string()), ("instructions", string())])),
            ("order_page", string()),
            ("documentation", string()),
            ("required_fields", list(&string())),
        ])
    }

    fn prepare(&self, content: &PublicContent) -> ToolContent {
        let facts = &content.facts;
        let url = |endpoint: Endpoint| facts.url(endpoint.path);
        let preview = facts.is_enabled(OptionalService::Preview).then(|| url(links::PREVIEW));
        ToolContent::Fixed(json!({
            "product": "One physical 4x6 inch postcard, printed and mailed",
            "mode": facts.mode.as_str(),
            "max_price": { "amount": CEILING.to_string(), "currency": "USDC" },
            "payment_protocols": protocols(facts),
            "preview_endpoint": preview,
            "order_status_endpoint": url(links::ORDER),
            "hand_off": {
                "url": format!("{}#card=", links::page(facts, links::SEND)),
                "instructions": HAND_OFF,
            },
            "order_page": url(links::ORDER_PAGE),
            "documentation": links::page(facts, links::DOCS),
            "required_fields": [
                "front_image_url",
                "message",
                "recipient.name",
                "recipient.address",
                "recipient.city",
                "recipient.province",
                "recipient.postal_code",
                "recipient.country",
            ],
        }))
    }
}

/// Those that are open.
fn protocols(facts: &SiteFacts) -> Vec<Value> {
    let protocols = [
        (
            OptionalService::X402,
            json!({
                "name": "x402",
                "endpoint": facts.url(links::SEND_BY_X402.path),
                "networks": facts.caip2_networks(),
                "price": "the provider's total plus 21%, never above max_price; a preview quotes it",
            }),
        ),
        (
            OptionalService::Mpp,
            json!({
                "name": "mpp",
                "endpoint": facts.url(links::SEND_BY_MPP.path),
                "networks": [Network::Base.caip2()],
                "price": "fixed, max_price",
            }),
        ),
    ];
    let open = protocols.into_iter().filter(|(service, _)| facts.is_enabled(*service));
    open.map(|(_, protocol)| protocol).collect()
}
