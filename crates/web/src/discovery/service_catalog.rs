//! `/api/x402`: the paid services with their prices, networks and adapters.

use order::model::card::{ADDRESS_CHARACTERS_MAX, MESSAGE_CHARACTERS_MAX};
use order::model::chain::Network;
use order::model::money::{CEILING, Usdc};
use serde_json::{Value, json};

use super::places;
use super::quote::X402_VERSION;
use crate::premises::{CONTRACT_DATE, Premises, Service};
use crate::surface::Endpoint;

const POSTCARD: &str = "postcard";
const MARGIN_PERCENT: u64 = 21;
const USDC_DECIMALS: u8 = 6;
const ORDER_PATTERN: &str = "^[a-f0-9]{32}$";

pub fn document(premises: &Premises) -> Value {
    let site = &premises.catalog.site;
    json!({
        "x402Version": X402_VERSION,
        "name": site.name,
        "description": site.summary,
        "url": premises.base_url,
        "version": CONTRACT_DATE,
        "mode": premises.mode.word(),
        "services": postcard(premises).into_iter().collect::<Vec<_>>(),
        "networks": premises.networks.iter().map(network).collect::<Vec<_>>(),
        "adapters": [adapter(premises)],
        "sellers": {
            "default": premises.default_seller,
            "parent": premises.seller_parent,
            "default_name": format!("{}.{}", premises.default_seller, premises.seller_parent),
            "resolve": call(premises, places::RESOLVE),
        },
        "orders": {
            "status": call(premises, places::ORDER),
            "identifier_pattern": ORDER_PATTERN,
        },
        "limits": limits(),
        "documentation": {
            "html": places::page(premises, places::MARKETPLACE),
            "markdown": places::page_markdown(premises, places::MARKETPLACE),
            "quick_start": places::page(premises, places::DOCS),
            "openapi": premises.url(places::OPENAPI.path),
            "guide_for_agents": premises.url(places::GUIDE.path),
            "terms_of_service": places::page(premises, places::TERMS),
            "privacy_policy": places::page(premises, places::PRIVACY),
        },
    })
}

/// None where neither a card nor a look at one is to be had.
fn postcard(premises: &Premises) -> Option<Value> {
    let ways = [(Service::X402, by_x402(premises)), (Service::Mpp, by_mpp(premises))];
    let open = ways.into_iter().filter(|(service, _)| premises.opens(*service));
    let payments: Vec<Value> = open.map(|(_, payment)| payment).collect();
    let look = premises.opens(Service::Preview);
    let mut postcard = json!({
        "id": POSTCARD,
        "name": "One 4x6 physical postcard",
        "description": "One postcard, printed and mailed through an external provider, for one \
                        paid request.",
        "adapter": POSTCARD,
        "payments": payments,
    });
    if look {
        postcard["preview"] = call(premises, places::PREVIEW);
    }
    (look || !payments.is_empty()).then_some(postcard)
}

fn by_x402(premises: &Premises) -> Value {
    json!({
        "protocol": "x402",
        "version": X402_VERSION,
        "scheme": "upto",
        "endpoint": call(premises, places::SEND_BY_X402),
        "price": {
            "rule": "provider_total_plus_percent",
            "percent": MARGIN_PERCENT,
            "maximum": money(CEILING),
        },
        "networks": premises.caip2_networks(),
        "headers": {
            "challenge": "PAYMENT-REQUIRED",
            "credential": ["PAYMENT-SIGNATURE", "X-Payment"],
            "settlement": "PAYMENT-RESPONSE",
        },
    })
}

fn by_mpp(premises: &Premises) -> Value {
    json!({
        "protocol": "mpp",
        "method": "evm",
        "intent": "charge",
        "endpoint": call(premises, places::SEND_BY_MPP),
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

fn adapter(premises: &Premises) -> Value {
    json!({
        "id": POSTCARD,
        "kind": "fulfilment",
        "provider": {"kind": "external"},
        "makes": "One 4x6 postcard, mailed to one recipient",
        "preview": premises.opens(Service::Preview),
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

/// What to call, and how; parameters stay in braces.
fn call(premises: &Premises, endpoint: Endpoint) -> Value {
    let place = if endpoint.path.contains('{') { "url_template" } else { "url" };
    json!({
        "method": endpoint.verb.name(),
        place: premises.url(endpoint.path),
        "description": endpoint.says,
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
    use crate::discovery::samples;

    #[test]
    fn both_ways_of_paying_are_told_with_their_networks_and_the_ceiling() {
        let premises = samples::premises();
        let document = document(&premises);
        assert_eq!(document["x402Version"], 2);
        let payments = samples::list(&document["services"][0]["payments"]);
        assert_eq!(payments.len(), 2);
        assert_eq!(payments[0]["networks"], json!(["eip155:8453", "eip155:137", "eip155:42161"]));
        assert_eq!(payments[0]["price"]["maximum"]["atomic"], "3500000");
        assert_eq!(payments[1]["networks"], json!(["eip155:8453"]));
        assert_eq!(payments[1]["price"]["amount"]["amount"], "3.50");
        assert_eq!(payments[1]["endpoint"]["url"], premises.url("/api/mpp/postcards"));
        samples::has_no_relative_address(&document);
    }

    #[test]
    fn the_margin_that_we_tell_is_the_margin_that_we_charge() {
        let charged = Price::UpTo(CEILING).charge(Cents(100)).unwrap();
        assert_eq!(charged, Usdc::from_cents(Cents(100 + MARGIN_PERCENT)));
    }

    #[test]
    fn an_address_with_parameters_is_called_a_template() {
        let document = document(&samples::premises());
        let status = &document["orders"]["status"];
        assert!(status["url_template"].as_str().unwrap().ends_with("/{publicOrderId}"));
        assert!(status.get("url").is_none());
        assert_eq!(document["adapters"][0]["provider"]["kind"], "external");
        assert_eq!(document["sellers"]["default_name"], "demo.pennyblack.eth");
    }
}
