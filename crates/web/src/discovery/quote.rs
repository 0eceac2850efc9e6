//! The quote for a product, at `/api` and at the checkout: a 402 challenge that captures no funds.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use content::product::Product;
use order::model::chain::Network;
use order::model::money::{Cents, Usdc};
use serde_json::{Value, json};

use super::places;
use crate::premises::Premises;

pub const X402_VERSION: u8 = 2;
const TIMEOUT_SECONDS: u32 = 300;
/// The token's own EIP-712 domain, the same on all our networks.
const TOKEN_NAME: &str = "USD Coin";
const TOKEN_VERSION: &str = "2";

/// A way to pay for what the shop sells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rail {
    X402,
    Lightning,
    Bitcoin,
}

impl Rail {
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

/// Where the quote was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// At `/api`, without naming a product.
    Discovery,
    /// At the checkout, by the product's slug.
    Checkout,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    pub body: Value,
    /// The value of `PAYMENT-REQUIRED`.
    pub header: String,
}

/// The quote at `/api`, for the shop's first product in stock; none in an empty shop.
pub fn discovery(premises: &Premises) -> Option<Quote> {
    let products = &premises.catalog.products;
    let product = products.iter().find(|product| product.is_available()).or(products.first())?;
    Some(quote(premises, product, Asked::Discovery))
}

pub fn quote(premises: &Premises, product: &Product, asked: Asked) -> Quote {
    let required = payment_required(premises, product, asked);
    let header = STANDARD.encode(required.to_string());
    let mut body = required;
    // Scanners read the body alone, so it repeats the header and then says more.
    body["product"] = facts(premises, product);
    body["rails"] = Rail::ALL.map(|rail| offered(premises, product, rail)).into();
    body["documentation"] = places::page(premises, places::SHOP).into();
    Quote { body, header }
}

/// What x402 clients read, without the shop's own words.
fn payment_required(premises: &Premises, product: &Product, asked: Asked) -> Value {
    let path = match asked {
        Asked::Discovery => places::QUOTE.path.to_owned(),
        Asked::Checkout => product.checkout_path(),
    };
    let (error, accepts) = if product.is_available() {
        let accepts = Network::ALL.map(|network| accept(premises, product, network));
        ("Payment required", accepts.to_vec())
    } else {
        ("Out of stock", Vec::new())
    };
    json!({
        "x402Version": X402_VERSION,
        // Nothing that is signed for this quote is ever taken to a chain.
        "settles": false,
        "preview": true,
        "funds_captured": false,
        "error": error,
        "resource": {
            "url": premises.url(&path),
            "description": format!("{}: {}", product.name, product.summary),
            "mimeType": "application/json",
        },
        "accepts": accepts,
        "extensions": {"bazaar": bazaar(product, asked)},
    })
}

fn price(product: &Product) -> Usdc {
    Usdc::from_cents(Cents(product.price_usdc_cents))
}

fn accept(premises: &Premises, product: &Product, network: Network) -> Value {
    json!({
        "scheme": "exact",
        "network": network.caip2(),
        "amount": price(product).atomic().to_string(),
        "asset": network.usdc().to_string(),
        "payTo": premises.payee.to_string(),
        "maxTimeoutSeconds": TIMEOUT_SECONDS,
        "extra": {"name": TOKEN_NAME, "version": TOKEN_VERSION},
    })
}

fn facts(premises: &Premises, product: &Product) -> Value {
    json!({
        "id": product.slug,
        "title": product.name,
        "description": product.summary,
        "url": premises.url(&product.path()),
        "price": {"amount": product.price_plain(), "currency": "EUR"},
        "availability": availability(product),
    })
}

/// The word that feeds, quotes and tools use for the same stock.
pub(crate) fn availability(product: &Product) -> &'static str {
    if product.is_available() { "in_stock" } else { "out_of_stock" }
}

fn offered(premises: &Premises, product: &Product, rail: Rail) -> Value {
    let status = if product.is_available() { rail.status() } else { "out_of_stock" };
    let mut offered = json!({
        "rail": rail.name(),
        "currency": rail.currency(),
        "status": status,
    });
    match rail {
        Rail::X402 => {
            offered["amount"] = price(product).to_string().into();
            offered["networks"] = json!(Network::ALL.map(Network::caip2));
        }
        Rail::Lightning | Rail::Bitcoin => {
            offered["url"] = premises.url(&product.path()).into();
        }
    }
    offered
}

/// How to ask for the quote, as registries of paid endpoints want to be told:
/// an example, and the schema that it follows.
fn bazaar(product: &Product, asked: Asked) -> Value {
    let (example, parameters) = match asked {
        Asked::Discovery => (json!({}), json!({"type": "object", "properties": {}})),
        Asked::Checkout => (
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
    use crate::discovery::samples;

    const HEADER_BYTES_MAX: usize = 6_000;

    fn decoded(quote: &Quote) -> Value {
        serde_json::from_slice(&STANDARD.decode(&quote.header).unwrap()).unwrap()
    }

    #[test]
    fn the_header_decodes_to_what_the_body_repeats() {
        let premises = samples::premises();
        for product in &premises.catalog.products {
            for asked in [Asked::Discovery, Asked::Checkout] {
                let quote = quote(&premises, product, asked);
                assert!(quote.header.len() < HEADER_BYTES_MAX, "{}", product.slug);
                let header = decoded(&quote);
                for (member, value) in header.as_object().unwrap() {
                    assert_eq!(&quote.body[member], value, "{member}");
                }
                assert!(header.get("rails").is_none());
                samples::has_no_relative_address(&quote.body);
            }
        }
    }

    #[test]
    fn each_network_is_offered_once_with_its_own_contract_and_the_whole_price() {
        let premises = samples::premises();
        let body = discovery(&premises).unwrap().body;
        let accepts = samples::list(&body["accepts"]);
        assert_eq!(accepts.len(), Network::ALL.len());
        for (accept, network) in accepts.iter().zip(Network::ALL) {
            assert_eq!(accept["scheme"], "exact");
            assert_eq!(accept["network"], network.caip2());
            assert_eq!(accept["asset"], network.usdc().to_string());
            assert_eq!(accept["amount"], "89000000");
            assert_eq!(accept["payTo"], premises.payee.to_string());
            assert_eq!(accept["maxTimeoutSeconds"], 300);
            assert_eq!(accept["extra"], json!({"name": "USD Coin", "version": "2"}));
        }
    }

    #[test]
    fn the_quote_says_that_it_is_one_and_captures_nothing() {
        let body = discovery(&samples::premises()).unwrap().body;
        assert_eq!(body["x402Version"], 2);
        assert_eq!(body["preview"], true);
        assert_eq!(body["funds_captured"], false);
        let rails: Vec<&Value> =
            samples::list(&body["rails"]).iter().map(|rail| &rail["rail"]).collect();
        assert_eq!(rails, ["x402", "lightning", "bitcoin-onchain"]);
        assert_eq!(body["product"]["price"], json!({"amount": "79.00", "currency": "EUR"}));
    }

    #[test]
    fn the_checkout_is_asked_by_product_and_discovery_by_nothing() {
        let premises = samples::premises();
        let product = &premises.catalog.products[1];
        let at_checkout = quote(&premises, product, Asked::Checkout).body;
        assert_eq!(at_checkout["resource"]["url"], premises.url(&product.checkout_path()));
        let bazaar = &at_checkout["extensions"]["bazaar"];
        assert_eq!(bazaar["info"]["input"]["queryParams"]["sku"], product.slug);
        let input = &bazaar["schema"]["properties"]["input"]["properties"];
        assert_eq!(input["queryParams"]["required"], json!(["sku"]));
        assert!(bazaar["schema"]["properties"]["output"]["properties"]["example"].is_object());

        let at_discovery = discovery(&premises).unwrap().body;
        assert_eq!(at_discovery["resource"]["url"], premises.url("/api"));
        let input = &at_discovery["extensions"]["bazaar"]["info"]["input"];
        assert_eq!(input["queryParams"], json!({}));
    }
}
