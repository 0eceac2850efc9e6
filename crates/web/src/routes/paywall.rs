//! The payment challenge as an HTML page, for browsers.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use content::render::{Money, PayableNetwork, Paywall, PaywallPage, UnpaidRequest};
use content::site::Language;
use http::header::{
    CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, VARY,
};
use http::{HeaderMap, HeaderValue};
use order::model::chain::{EvmAddress, Network};
use order::model::identity::quote::QuoteId;
use order::model::offer::Offer;
use pay::http_binding::HttpAnswer;
use pay::x402::http_binding::PAYMENT_REQUIRED;

use crate::documents::document::PAGE_CSP;
use crate::http::negotiation::preferred_language;

/// What the page needs beside the challenge.
pub(crate) struct PaywallRenderer {
    pub(crate) page: PaywallPage,
    pub(crate) money: Money,
    /// The RPC URLs of the sandbox chains, for wallets.
    pub(crate) nodes: BTreeMap<Network, String>,
}

/// A request, as far as a paid endpoint needs it.
pub(crate) struct RequestRef<'a> {
    pub(crate) path: &'a str,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a [u8],
    /// The language of the form that was sent. None for the one that the browser prefers.
    pub(crate) language: Option<Language>,
}

impl PaywallRenderer {
    /// Replaces the body of a challenge by the page. If the page cannot be rendered, the challenge
    /// stays.
    pub(crate) fn replace_body(
        &self,
        answer: &mut HttpAnswer,
        offer: &Offer,
        request: &RequestRef<'_>,
        quote: Option<QuoteId>,
    ) {
        let language = self.language(request);
        let challenge = answer.headers.get(PAYMENT_REQUIRED).map(HeaderValue::as_bytes);
        let challenge = challenge.and_then(|header| STANDARD.decode(header).ok());
        let challenge = challenge.and_then(|json| String::from_utf8(json).ok());
        let page =
            challenge.and_then(|challenge| self.write(language, &challenge, offer, request, quote));
        let Some(page) = page else { return };
        answer.body = page.into_bytes();
        let headers = [
            (CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
            (CONTENT_LANGUAGE, HeaderValue::from_static(language.code())),
            // The page contains the request.
            (CACHE_CONTROL, HeaderValue::from_static("no-store")),
            (CONTENT_SECURITY_POLICY, PAGE_CSP),
            (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
            (VARY, HeaderValue::from_static("Accept, Accept-Language, User-Agent")),
        ];
        for (name, value) in headers {
            // Replaced, because extending would repeat headers.
            answer.headers.insert(name, value);
        }
    }

    fn language(&self, request: &RequestRef<'_>) -> Language {
        let languages = self.page.languages();
        let preferred = || preferred_language(request.headers, &languages);
        request.language.or_else(preferred).unwrap_or(Language::En)
    }

    fn write(
        &self,
        language: Language,
        challenge: &str,
        offer: &Offer,
        request: &RequestRef<'_>,
        quote: Option<QuoteId>,
    ) -> Option<String> {
        let body = str::from_utf8(request.body).ok()?;
        let payees: Vec<_> = offer.payees.iter().map(Payee::of).collect();
        // Only the networks of the challenge.
        let offered = payees.iter().filter(|payee| challenge.contains(payee.network.caip2()));
        let networks: Vec<_> = offered.map(|payee| self.payable(payee)).collect();
        let header = |name| request.headers.get(name).and_then(|value| value.to_str().ok());
        // The offer was made, so the quote is one of ours.
        let quoted = quote.map(|quote| quote.stated_charge().to_string());
        let paywall = Paywall {
            order: &offer.order.to_string(),
            maximum: &offer.price.ceiling().to_string(),
            quoted: quoted.as_deref(),
            networks: &networks,
            challenge,
            request: UnpaidRequest {
                path: request.path,
                body,
                idempotency_key: header("idempotency-key"),
                quote_id: header("quote-id"),
            },
            money: self.money,
        };
        self.page.write(language, &paywall).ok()
    }

    fn payable<'a>(&'a self, payee: &'a Payee) -> PayableNetwork<'a> {
        PayableNetwork {
            name: network_name(payee.network),
            caip2: payee.network.caip2(),
            payee: &payee.address,
            asset: &payee.asset,
            node: self.nodes.get(&payee.network).map(String::as_str),
        }
    }
}

/// The payee on a network, as text.
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

/// The display name of a network.
pub(crate) fn network_name(network: Network) -> &'static str {
    match network {
        Network::Base => "Base",
        Network::Polygon => "Polygon",
        Network::Arbitrum => "Arbitrum",
    }
}
