//! The answer to an unpaid request for whoever sits at a browser: the same challenge, as a page.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use content::render::{Money, Payable, Paywall, PaywallPage, Unpaid};
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, VARY};
use http::{HeaderMap, HeaderValue};
use order::model::chain::{EvmAddress, Network};
use order::model::offer::Offer;
use pay::envelope::Sealed;
use pay::x402::envelope::PAYMENT_REQUIRED;

use crate::document::PAGE_POLICY;

/// What the page needs to know beside the challenge.
pub(crate) struct Wall {
    pub(crate) page: PaywallPage,
    pub(crate) money: Money,
    /// Where a wallet finds the sandbox's chains.
    pub(crate) nodes: BTreeMap<Network, String>,
}

/// The request that the page repeats when it pays.
pub(crate) struct Asking<'a> {
    pub(crate) path: &'a str,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a [u8],
}

impl Wall {
    /// Writes the page over a challenge that is already sealed. A page that
    /// cannot be written leaves the challenge as it is: programs read on.
    pub(crate) fn cover(&self, sealed: &mut Sealed, offer: &Offer, asking: &Asking<'_>) {
        let challenge = sealed.headers.get(PAYMENT_REQUIRED).map(HeaderValue::as_bytes);
        let challenge = challenge.and_then(|header| STANDARD.decode(header).ok());
        let challenge = challenge.and_then(|json| String::from_utf8(json).ok());
        let Some(page) = challenge.and_then(|challenge| self.write(&challenge, offer, asking))
        else {
            return;
        };
        sealed.body = page.into_bytes();
        let over = [
            (CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
            // What the caller wrote stands in the page.
            (CACHE_CONTROL, HeaderValue::from_static("no-store")),
            (CONTENT_SECURITY_POLICY, PAGE_POLICY),
            (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
            (VARY, HeaderValue::from_static("Accept, User-Agent")),
        ];
        for (name, value) in over {
            // In the place of what was there: extending would say it twice.
            sealed.headers.insert(name, value);
        }
    }

    fn write(&self, challenge: &str, offer: &Offer, asking: &Asking<'_>) -> Option<String> {
        let body = str::from_utf8(asking.body).ok()?;
        let payees: Vec<_> = offer.payees.iter().map(Payee::of).collect();
        // Only what the challenge offers, as somebody must carry it there.
        let offered = payees.iter().filter(|payee| challenge.contains(payee.network.caip2()));
        let networks: Vec<_> = offered.map(|payee| self.payable(payee)).collect();
        let key = asking.headers.get("idempotency-key").and_then(|key| key.to_str().ok());
        let written = self.page.write(&Paywall {
            order: &offer.order.to_string(),
            most: &offer.price.ceiling().to_string(),
            networks: &networks,
            challenge,
            request: Unpaid { path: asking.path, body, idempotency_key: key },
            money: self.money,
        });
        written.ok()
    }

    fn payable<'a>(&'a self, payee: &'a Payee) -> Payable<'a> {
        Payable {
            name: name(payee.network),
            caip2: payee.network.caip2(),
            payee: &payee.address,
            asset: &payee.asset,
            node: self.nodes.get(&payee.network).map(String::as_str),
        }
    }
}

/// Whom to pay on a network, as it is written.
struct Payee {
    network: Network,
    address: String,
    asset: String,
}

impl Payee {
    fn of((network, address): (Network, EvmAddress)) -> Self {
        Self { network, address: address.to_string(), asset: network.usdc().to_string() }
    }
}

fn name(network: Network) -> &'static str {
    match network {
        Network::Base => "Base",
        Network::Polygon => "Polygon",
        Network::Arbitrum => "Arbitrum",
    }
}
