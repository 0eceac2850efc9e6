//! The quote for a product, at `/api` and at the checkout: a 402 response that captures no funds.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use content::product::Product;
use order::model::chain::Network;
use order::model::money::{Cents, Usdc};
use serde_json::{Value, json};

use crate::discovery::links;
use crate::site_facts::SiteFacts;

pub const X402_VERSION: u8 = 2;
const TIMEOUT_SECONDS: u32 = 300;
/// The EIP-712 domain of the token, the same on all networks.
const TOKEN_NAME: &str = "USD Coin";
const TOKEN_VERSION: &str = "2";

/// A payment rail of the shop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShopRail {
    X402,
    Lightning,
    Bitcoin,
}

impl ShopRail {
    pub const ALL: [Self; 3] = [Self::X402, Self::Lightning, Self::Bitcoin];

    pub const fn name(self) -> &'static str {
        match self {
            Self::X402 => "x402",
            Self::Lightning => "lightning",
            Self::Bitcoin => "bitcoin-onchain",
        }
    }

    pub const fn currency(self) -> &'static str {
        match self {
            Self::X402 => "USDC",
            Self::Lightning | Self::Bitcoin => "BTC",
        }
    }

    pub const fn status(self) -> &'static str {
        match self {
            Self::X402 => "preview",
            Self::Lightning | Self::Bitcoin => "completes_outside_this_service",
        }
    }
}

/// The endpoint that returns the quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuoteEndpoint {
    /// `/api`, which takes no product.
    Api,
    /// `/shop/checkout`, which takes the product's slug.
    Checkout,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShopQuote {
    pub body: Value,
    /// The value of `PAYMENT-REQUIRED`.
    pub header: String,
}

/// The quote at `/api`, for the shop's first product in stock; none in an empty shop.
pub fn discovery(facts: &SiteFacts) -> Option<ShopQuote> {
    let products = &facts.catalog.products;
    let product = products.iter().find(|product| product.is_available()).or(products.first())?;
    Some(quote(facts, product, QuoteEndpoint::Api))
}

pub fn quote(facts: &SiteFacts, product: &Product, endpoint: QuoteEndpoint) -> ShopQuote {
    let required = payment_required(facts, product, endpoint);
    let header = STANDARD.encode(required.to_string());
    let mut body = required;
    // Scanners read only the body, so it repeats the header.
    body["product"] = product_summary(facts, product);
    body["rails"] = ShopRail::ALL.map(|rail| rail_entry(facts, product, rail)).into();
    body["documentation"] = links::page(facts, links::SHOP).into();
    ShopQuote { body, header }
}

/// The x402 part of the quote.
fn payment_required(facts: &SiteFacts, product: &Product, endpoint: QuoteEndpoint) -> Value {
    let path = match endpoint {
        QuoteEndpoint::Api => links::QUOTE.path.to_owned(),
        QuoteEndpoint::Checkout => product.checkout_path(),
    };
    let (error, accepts) = if product.is_available() {
        let accepts = Network::ALL.map(|network| accept(facts, product, network));
        ("Payment required", accepts.to_vec())
    } else {
        ("Out of stock", Vec::new())
    };
    json!({
        "x402Version": X402_VERSION,
        // A signature for this quote is never settled.
        "settles": false,
        "preview": true,
        "funds_captured": false,
        "error": error,
        "resource": {
            "url": facts.url(&path),
            "description": format!("{}: {}", product.name, product.summary),
            "mimeType": "application/json",
        },
        "accepts": accepts,
        "extensions": {"bazaar": bazaar(product, endpoint)},
    })
}

fn price(product: &Product) -> Usdc {
    Usdc::from_cents(Cents(product.price_usdc_cents))
}

fn accept(facts: &SiteFacts, product: &Product, network: Network) -> Value {
    json!({
        "scheme": "exact",
        "network": network.caip2(),
        "amount": price(product).atomic().to_string(),
        "asset": network.usdc().to_string(),
        "payTo": facts.payee.to_string(),
        "maxTimeoutSeconds": TIMEOUT_SECONDS,
        "extra": {"name": TOKEN_NAME, "version": TOKEN_VERSION},
    })
}

fn product_summary(facts: &SiteFacts, product: &Product) -> Value {
    json!({
        "id": product.slug,
        "title": product.name,
        "description": product.summary,
        "url": facts.url(&product.path()),
        "price": {"amount": product.price_plain(), "currency": "EUR"},
        "availability": availability(product),
    })
}

/// The availability value of feeds, quotes and tools.
pub(crate) fn availability(product: &Product) -> &'static str {
    if product.is_available() { "in_stock" } else { "out_of_stock" }
}

fn rail_entry(facts: &SiteFacts, product: &Product, rail: ShopRail) -> Value {
    let status = if product.is_available() { rail.status() } else { "out_of_stock" };
    let mut entry = json!({
        "rail": rail.name(),
        "currency": rail.currency(),
        "status": status,
    });
    match rail {
        ShopRail::X402 => {
            entry["amount"] = price(product).to_string().into();
            entry["networks"] = json!(Network::ALL.map(Network::caip2));
        }
        ShopRail::Lightning | ShopRail::Bitcoin => {
            entry["url"] = facts.url(&product.path()).into();
        }
    }
    entry
}

/// How to request the quote, in the format of payment registries: an example and its schema.
fn bazaar(product: &Product, endpoint: QuoteEndpoint) -> Value {
    let (example, parameters) = match endpoint {
        QuoteEndpoint::Api => (json!({}), json!({"type": "object", "properties": {}})),
        QuoteEndpoint::Checkout => (
            json!({"sku": product.slug}),
            json!({
                "type": "object",
                "properties": {"sku": {"type": "string", "description": "The product's slug"}},
                "required": ["sku"],
            }),
        ),
    };
    json!({
        "info": {
            "input": {"type": "http", "method": "GET", "queryParams": example},
            "output": {
                "type": "json",
                "example": {
                    "settles": false,
                    "product": {"id": product.slug, "availability": availability(product)},
                },
            },
        },
        "schema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "input": {
                    "type": "object",
                    "properties": {
                        "type": {"type": "string", "const": "http"},
                        "method": {"type": "string", "enum": ["GET"]},
                        "queryParams": parameters,
                    },
                    "required": ["type", "method"],
                },
                "output": {
                    "type": "object",
                    "properties": {"type": {"type": "string"}, "example": {"type": "object"}},
                    "required": ["type"],
                },
            },
            "required": ["input"],
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::fixtures;

    const HEADER_BYTES_MAX: usize = 6_000;

    fn decoded(quote: &ShopQuote) -> Value {
        serde_json::from_slice(&STANDARD.decode(&quote.header).unwrap()).unwrap()
    }

    #[test]
    fn the_body_repeats_the_header() {
        let facts = fixtures::site_facts();
        for product in &facts.catalog.products {
            for endpoint in [QuoteEndpoint::Api, QuoteEndpoint::Checkout] {
                let quote = quote(&facts, product, endpoint);
                assert!(quote.header.len() < HEADER_BYTES_MAX, "{}", product.slug);
                let header = decoded(&quote);
                for (member, value) in header.as_object().unwrap() {
                    assert_eq!(&quote.body[member], value, "{member}");
                }
                assert!(header.get("rails").is_none());
                fixtures::has_no_relative_address(&quote.body);
            }
        }
    }

    #[test]
    fn each_network_is_offered_once_with_its_contract_and_the_full_price() {
        let facts = fixtures::site_facts();
        let body = discovery(&facts).unwrap().body;
        let accepts = fixtures::list(&body["accepts"]);
        assert_eq!(accepts.len(), Network::ALL.len());
        for (accept, network) in accepts.iter().zip(Network::ALL) {
            assert_eq!(accept["scheme"], "exact");
            assert_eq!(accept["network"], network.caip2());
            assert_eq!(accept["asset"], network.usdc().to_string());
            assert_eq!(accept["amount"], "89000000");
            assert_eq!(accept["payTo"], facts.payee.to_string());
            assert_eq!(accept["maxTimeoutSeconds"], 300);
            assert_eq!(accept["extra"], json!({"name": "USD Coin", "version": "2"}));
        }
    }

    #[test]
    fn the_quote_is_a_preview_and_captures_nothing() {
        let body = discovery(&fixtures::site_facts()).unwrap().body;
        assert_eq!(body["x402Version"], 2);
        assert_eq!(body["preview"], true);
        assert_eq!(body["funds_captured"], false);
        let rails: Vec<&Value> =
            fixtures::list(&body["rails"]).iter().map(|rail| &rail["rail"]).collect();
        assert_eq!(rails, ["x402", "lightning", "bitcoin-onchain"]);
        assert_eq!(body["product"]["price"], json!({"amount": "79.00", "currency": "EUR"}));
    }

    #[test]
    fn the_checkout_takes_a_product_and_discovery_takes_no_parameter() {
        let facts = fixtures::site_facts();
        let product = &facts.catalog.products[1];
        let at_checkout = quote(&facts, product, QuoteEndpoint::Checkout).body;
        assert_eq!(at_checkout["resource"]["url"], facts.url(&product.checkout_path()));
        let bazaar = &at_checkout["extensions"]["bazaar"];
        assert_eq!(bazaar["info"]["input"]["queryParams"]["sku"], product.slug);
        let input = &bazaar["schema"]["properties"]["input"]["properties"];
        assert_eq!(input["queryParams"]["required"], json!(["sku"]));
        assert!(bazaar["schema"]["properties"]["output"]["properties"]["example"].is_object());

        let at_discovery = discovery(&facts).unwrap().body;
        assert_eq!(at_discovery["resource"]["url"], facts.url("/api"));
        let input = &at_discovery["extensions"]["bazaar"]["info"]["input"];
        assert_eq!(input["queryParams"], json!({}));
    }
}
