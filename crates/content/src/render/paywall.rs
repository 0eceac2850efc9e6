//! The HTML page of a payment challenge: text for a person, and data for the script that pays.

use std::collections::BTreeMap;

use minijinja::value::Value;
use minijinja::{Environment, context};

use super::phrases::amount;
use super::renderer::{Money, Renderer, render_template};
use crate::fault::ContentFault;
use crate::site::Language;

use self::script_json::{escaped_json, quoted, quoted_or_null};
use self::texts::PageTexts;

mod answers;
mod script_json;
mod texts;

const TEMPLATE: &str = "paywall.html";

/// An unpaid order. It contains personal data, so it has no `Debug`, and its page must not be
/// cached.
#[derive(Clone, Copy)]
pub struct Paywall<'a> {
    /// 32 hexadecimal digits.
    pub order: &'a str,
    /// The maximum price in USDC: `3.50`.
    pub maximum: &'a str,
    /// What the card costs at most by the quote that the request names, in USDC.
    pub quoted: Option<&'a str>,
    /// In the order of the challenge.
    pub networks: &'a [PayableNetwork<'a>],
    /// The content of `PAYMENT-REQUIRED`, as JSON without base64.
    pub challenge: &'a str,
    pub request: UnpaidRequest<'a>,
    pub money: Money,
}

/// A network on which the order can be paid.
#[derive(Clone, Copy)]
pub struct PayableNetwork<'a> {
    /// The display name: `Base`.
    pub name: &'a str,
    /// The CAIP-2 identifier: `eip155:8453`.
    pub caip2: &'a str,
    pub payee: &'a str,
    /// The contract of USDC.
    pub asset: &'a str,
    /// The RPC URL for wallets that do not know the network. None for the public node, which the
    /// script knows.
    pub node: Option<&'a str>,
}

/// The request that the page answers and the script repeats.
#[derive(Clone, Copy)]
pub struct UnpaidRequest<'a> {
    /// On this site: `/api/x402/postcards`.
    pub path: &'a str,
    /// Byte for byte as it was received.
    pub body: &'a str,
    /// The `Idempotency-Key` header.
    pub idempotency_key: Option<&'a str>,
    /// The `Quote-Id` header.
    pub quote_id: Option<&'a str>,
}

/// The page in every language, checked at start.
pub struct PaywallPage {
    templates: Environment<'static>,
    languages: BTreeMap<Language, PageInLanguage>,
}

struct PageInLanguage {
    texts: PageTexts,
    form_path: String,
    layout: Value,
}

impl Renderer<'_> {
    /// The page without an order. Renders samples, so that a template error is found at start.
    pub fn paywall(&self) -> Result<PaywallPage, ContentFault> {
        let languages = self.catalog.site.languages.iter().map(|&language| {
            let form_path = self.form_path(language).to_owned();
            let layout = context! {
                language => language.code(),
                scripts => self.context.paywall,
                form_path => form_path,
                ..self.layout(language, "", Vec::new())
            };
            let texts = PageTexts::new(self.catalog.send.texts(language));
            (language, PageInLanguage { texts, form_path, layout })
        });
        let languages = languages.collect();
        let page = PaywallPage { templates: self.templates.clone(), languages };
        for language in page.languages.keys() {
            page.write(*language, &SAMPLE)?;
        }
        Ok(page)
    }
}

impl PaywallPage {
    pub fn languages(&self) -> Vec<Language> {
        self.languages.keys().copied().collect()
    }

    /// The whole page. It must not be cached, because it contains the request.
    pub fn write(&self, language: Language, paywall: &Paywall<'_>) -> Result<String, ContentFault> {
        let first = || self.languages.first_key_value().map(|(_, page)| page);
        let page = self.languages.get(&language).or_else(first).expect("the site has a language");
        let networks = paywall.networks.iter().map(|network| {
            let PayableNetwork { name, caip2, payee, asset, node: _ } = *network;
            context! { name, caip2, payee, asset }
        });
        let most = amount(language, paywall.maximum);
        let charge = paywall.quoted.map(|charge| amount(language, charge));
        // The texts have it in the link to the order's page only.
        let order_link = format!("{}?lang={}", paywall.order, language.code());
        let values = [
            ("most", &*most),
            ("charge", charge.as_deref().unwrap_or_default()),
            ("network", paywall.networks.first().map_or("", |network| network.name)),
            ("id", &*order_link),
            ("path", paywall.request.path),
        ];
        let context = context! {
            t => page.texts.filled(&values),
            html => page.texts.linked(&values),
            script_texts => page.texts.for_script(),
            order => paywall.order,
            quoted => charge,
            networks => networks.collect::<Vec<_>>(),
            play => paywall.money == Money::Play,
            data => data(language, &page.form_path, paywall),
            ..page.layout.clone()
        };
        render_template(&self.templates, TEMPLATE, context)
    }
}

const SAMPLE: Paywall<'static> = Paywall {
    order: "",
    maximum: "",
    quoted: Some(""),
    networks: &[PayableNetwork { name: "", caip2: "", payee: "", asset: "", node: None }],
    challenge: "{}",
    request: UnpaidRequest { path: "", body: "", idempotency_key: None, quote_id: None },
    money: Money::Play,
};

/// The data of the script, as JSON without characters that are special in HTML.
fn data(language: Language, form_path: &str, paywall: &Paywall<'_>) -> String {
    let UnpaidRequest { path, body, idempotency_key, quote_id } = paywall.request;
    let networks: Vec<String> = paywall.networks.iter().map(network).collect();
    format!(
        "{{\"language\":{},\"decimal_sign\":{},\"form_path\":{},\"order\":{},\"quoted\":{},\
         \"challenge\":{},\"networks\":[{}],\"request\":{{\"path\":{},\"body\":{},\
         \"idempotency_key\":{},\"quote_id\":{}}}}}",
        quoted(language.code()),
        quoted(&amount(language, ".")),
        quoted(form_path),
        quoted(paywall.order),
        quoted_or_null(paywall.quoted),
        escaped_json(paywall.challenge),
        networks.join(","),
        quoted(path),
        quoted(body),
        quoted_or_null(idempotency_key),
        quoted_or_null(quote_id),
    )
}

fn network(network: &PayableNetwork<'_>) -> String {
    let PayableNetwork { name, caip2, node, .. } = *network;
    let (caip2, name, node) = (quoted(caip2), quoted(name), quoted_or_null(node));
    format!("{{\"network\":{caip2},\"name\":{name},\"node\":{node}}}")
}

#[cfg(test)]
mod tests;
