//! `/api/x402`: the paid services with their prices, networks and adapters.

use order::model::card::{ADDRESS_CHARACTERS_MAX, MESSAGE_CHARACTERS_MAX};
use order::model::chain::Network;
use order::model::money::{CEILING, Usdc};
use serde_json::{Value, json};

use crate::discovery::links;
use crate::discovery::shop::quote::X402_VERSION;
use crate::site_facts::{CONTRACT_DATE, SiteFacts};
use crate::surface::{Endpoint, OptionalService};

const POSTCARD: &str = "postcard";
const MARGIN_PERCENT: u64 = 21;
const USDC_DECIMALS: u8 = 6;
const ORDER_PATTERN: &str = "^[a-f0-9]{32}$";

pub fn document(facts: &SiteFacts) -> Value {
    let site = &facts.catalog.site;
    json!({
        "x402Version": X402_VERSION,
        "name": site.name,
        "description": site.summary,
        "url": facts.base_url,
        "version": CONTRACT_DATE,
        "mode": facts.mode.as_str(),
        "services": postcard(facts).into_iter().collect::<Vec<_>>(),
        "networks": facts.networks.iter().map(network).collect::<Vec<_>>(),
        "adapters": [adapter(facts)],
        "sellers": {
            "default": facts.default_seller,
            "parent": facts.seller_parent,
            "default_name": format!("{}.{}", facts.default_seller, facts.seller_parent),
            "resolve": call(facts, links::RESOLVE),
        },
        "orders": {
            "status": call(facts, links::ORDER),
            "identifier_pattern": ORDER_PATTERN,
        },
        "limits": limits(),
        "documentation": {
            "html": links::page(facts, links::MARKETPLACE),
            "markdown": links::page_markdown(facts, links::MARKETPLACE),
            "quick_start": links::page(facts, links::DOCS),
            "openapi": facts.url(links::OPENAPI.path),
            "guide_for_agents": facts.url(links::GUIDE.path),
            "terms_of_service": links::page(facts, links::TERMS),
            "privacy_policy": links::page(facts, links::PRIVACY),
        },
    })
}

/// None if neither payment nor preview is enabled.
fn postcard(facts: &SiteFacts) -> Option<Value> {
    let protocols =
        [(OptionalService::X402, by_x402(facts)), (OptionalService::Mpp, by_mpp(facts))];
    let open = protocols.into_iter().filter(|(service, _)| facts.is_enabled(*service));
    let payments: Vec<Value> = open.map(|(_, payment)| payment).collect();
    let has_preview = facts.is_enabled(OptionalService::Preview);
    let mut postcard = json!({
        "id": POSTCARD,
        "name": "One 4x6 physical postcard",
        "description": "One postcard, printed and mailed through an external provider, for one \
                        paid request.",
        "adapter": POSTCARD,
        "payments": payments,
    });
    if has_preview {
        postcard["preview"] = call(facts, links::PREVIEW);
    }
    (has_preview || !payments.is_empty()).then_some(postcard)
}

fn by_x402(facts: &SiteFacts) -> Value {
    json!({
        "protocol": "x402",
        "version": X402_VERSION,
        "scheme": "upto",
        "endpoint": call(facts, links::SEND_BY_X402),
        "price": {
            "rule": "provider_total_plus_percent",
            "percent": MARGIN_PERCENT,
            "maximum": money(CEILING),
        },
        "networks": facts.caip2_networks(),
        "headers": {
            "challenge": "PAYMENT-REQUIRED",
            "credential": ["PAYMENT-SIGNATURE", "X-Payment"],
            "settlement": "PAYMENT-RESPONSE",
        },
    })
}

fn by_mpp(facts: &SiteFacts) -> Value {
    json!({
        "protocol": "mpp",
        "method": "evm",
        "intent": "charge",
        "endpoint": call(facts, links::SEND_BY_MPP),
        "price": {"rule": "fixed", "amount": money(CEILING)},
        "networks": [Network::Base.caip2()],
        "currency": Network::Base.usdc().to_string(),
        "headers": {
            "challenge": "WWW-Authenticate",
            "credential": ["Authorization", "Payment-Authorization", "Payment-Signature"],
            "settlement": "Payment-Receipt",
        },
    })
}

fn adapter(facts: &SiteFacts) -> Value {
    json!({
        "id": POSTCARD,
        "kind": "fulfilment",
        "provider": {"kind": "external"},
        "makes": "One 4x6 postcard, mailed to one recipient",
        "preview": facts.is_enabled(OptionalService::Preview),
        "receives": ["front_image_url", "message", "recipient"],
    })
}

fn limits() -> Value {
    json!({
        "postcards_per_request": 1,
        "postcard_size_inches": "4x6",
        "maximum_authorization": money(CEILING),
        "message_characters": MESSAGE_CHARACTERS_MAX,
        "address_field_characters": ADDRESS_CHARACTERS_MAX,
    })
}

/// Method and URL of an endpoint; path parameters stay in braces.
fn call(facts: &SiteFacts, endpoint: Endpoint) -> Value {
    let member = if endpoint.path.contains('{') { "url_template" } else { "url" };
    json!({
        "method": endpoint.method.name(),
        member: facts.url(endpoint.path),
        "description": endpoint.summary,
    })
}

fn money(amount: Usdc) -> Value {
    json!({
        "amount": amount.to_string(),
        "atomic": amount.atomic().to_string(),
        "currency": "USDC",
    })
}

fn network(network: &Network) -> Value {
    let name = match network {
        Network::Base => "Base",
        Network::Polygon => "Polygon",
        Network::Arbitrum => "Arbitrum One",
    };
    json!({
        "network": network.caip2(),
        "name": name,
        "chain_id": network.chain_id(),
        "asset": network.usdc().to_string(),
        "symbol": "USDC",
        "decimals": USDC_DECIMALS,
    })
}

#[cfg(test)]
mod tests {
    use order::model::money::{Cents, Price};

    use super::*;
    use crate::discovery::fixtures;

    #[test]
    fn both_protocols_are_listed_with_networks_and_maximum() {
        let facts = fixtures::site_facts();
        let document = document(&facts);
        assert_eq!(document["x402Version"], 2);
        let payments = fixtures::list(&document["services"][0]["payments"]);
        assert_eq!(payments.len(), 2);
        assert_eq!(payments[0]["networks"], json!(["eip155:8453", "eip155:137", "eip155:42161"]));
        assert_eq!(payments[0]["price"]["maximum"]["atomic"], "3500000");
        assert_eq!(payments[1]["networks"], json!(["eip155:8453"]));
        assert_eq!(payments[1]["price"]["amount"]["amount"], "3.50");
        assert_eq!(payments[1]["endpoint"]["url"], facts.url("/api/mpp/postcards"));
        fixtures::has_no_relative_address(&document);
    }

    #[test]
    fn the_published_margin_is_the_charged_margin() {
        let charged = Price::UpTo(CEILING).charge(Cents(100)).unwrap();
        assert_eq!(charged, Usdc::from_cents(Cents(100 + MARGIN_PERCENT)));
    }

    #[test]
    fn a_url_with_parameters_is_a_template() {
        let document = document(&fixtures::site_facts());
        let status = &document["orders"]["status"];
        assert!(status["url_template"].as_str().unwrap().ends_with("/{publicOrderId}"));
        assert!(status.get("url").is_none());
        assert_eq!(document["adapters"][0]["provider"]["kind"], "external");
        assert_eq!(document["sellers"]["default_name"], "demo.pennyblack.eth");
    }
}
