//! `get_postcard_service_info`: how a postcard is bought, without buying one.

use order::model::chain::Network;
use order::model::money::CEILING;
use serde_json::{Value, json};

use super::product::price_schema;
use super::{Input, Knowledge, Tool, list, object, string};
use crate::discovery::places;
use crate::mcp::library::Library;
use crate::premises::{Premises, Service};
use crate::surface::Endpoint;

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

    fn input(&self) -> Input {
        Input { properties: json!({}), required: &[] }
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
            ("documentation", string()),
            ("required_fields", list(&string())),
        ])
    }

    fn learn(&self, library: &Library) -> Knowledge {
        let premises = &library.premises;
        let url = |endpoint: Endpoint| premises.url(endpoint.path);
        let preview = premises.opens(Service::Preview).then(|| url(places::PREVIEW));
        Knowledge::One(json!({
            "product": "One physical 4x6 inch postcard, printed and mailed",
            "mode": premises.mode.word(),
            "max_price": { "amount": CEILING.to_string(), "currency": "USDC" },
            "payment_protocols": protocols(premises),
            "preview_endpoint": preview,
            "order_status_endpoint": url(places::ORDER),
            "documentation": places::page(premises, places::DOCS),
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
fn protocols(premises: &Premises) -> Vec<Value> {
    let protocols = [
        (
            Service::X402,
            json!({
                "name": "x402",
                "endpoint": premises.url(places::SEND_BY_X402.path),
                "networks": premises.caip2_networks(),
                "price": "the provider's total plus 21%, never above max_price",
            }),
        ),
        (
            Service::Mpp,
            json!({
                "name": "mpp",
                "endpoint": premises.url(places::SEND_BY_MPP.path),
                "networks": [Network::Base.caip2()],
                "price": "fixed, max_price",
            }),
        ),
    ];
    let open = protocols.into_iter().filter(|(service, _)| premises.opens(*service));
    open.map(|(_, protocol)| protocol).collect()
}
