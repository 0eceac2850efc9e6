//! The HTML page of a payment challenge: text for a person, and data for the script that pays.

use std::fmt::Write;

use minijinja::value::Value;
use minijinja::{Environment, context};

use super::renderer::{Renderer, render_template};
use crate::fault::ContentFault;

const TEMPLATE: &str = "paywall.html";

/// An unpaid order. It contains personal data, so it has no `Debug`, and its page must not be
/// cached.
#[derive(Clone, Copy)]
pub struct Paywall<'a> {
    /// 32 hexadecimal digits.
    pub order: &'a str,
    /// The maximum price in USDC: `3.50`.
    pub maximum: &'a str,
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
}

/// Whether payments are real.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Money {
    Real,
    /// On the chains of the sandbox, which have the ids of real ones.
    Play,
}

/// The page template, checked at start.
pub struct PaywallPage {
    templates: Environment<'static>,
    layout: Value,
}

impl Renderer<'_> {
    /// The page without an order. Renders a sample, so that a template error is found at start.
    pub fn paywall(&self) -> Result<PaywallPage, ContentFault> {
        let language = self.catalog.site.default_language();
        let layout = context! {
            language => language.code(),
            scripts => self.context.paywall,
            ..self.layout(language, "", Vec::new())
        };
        let page = PaywallPage { templates: self.templates.clone(), layout };
        page.write(&SAMPLE)?;
        Ok(page)
    }
}

impl PaywallPage {
    /// The whole page. It must not be cached, because it contains the request.
    pub fn write(&self, paywall: &Paywall<'_>) -> Result<String, ContentFault> {
        let networks = paywall.networks.iter().map(|network| {
            let PayableNetwork { name, caip2, payee, asset, node: _ } = *network;
            context! { name, caip2, payee, asset }
        });
        let context = context! {
            order => paywall.order,
            most => paywall.maximum,
            networks => networks.collect::<Vec<_>>(),
            path => paywall.request.path,
            play => paywall.money == Money::Play,
            data => data(paywall),
            ..self.layout.clone()
        };
        render_template(&self.templates, TEMPLATE, context)
    }
}

const SAMPLE: Paywall<'static> = Paywall {
    order: "",
    maximum: "",
    networks: &[PayableNetwork { name: "", caip2: "", payee: "", asset: "", node: None }],
    challenge: "{}",
    request: UnpaidRequest { path: "", body: "", idempotency_key: None },
    money: Money::Play,
};

/// The data of the script, as JSON without characters that are special in HTML.
fn data(paywall: &Paywall<'_>) -> String {
    let UnpaidRequest { path, body, idempotency_key } = paywall.request;
    let networks: Vec<String> = paywall.networks.iter().map(network).collect();
    format!(
        "{{\"order\":{},\"challenge\":{},\"networks\":[{}],\
         \"request\":{{\"path\":{},\"body\":{},\"idempotency_key\":{}}}}}",
        quoted(paywall.order),
        escaped_json(paywall.challenge),
        networks.join(","),
        quoted(path),
        quoted(body),
        quoted_or_null(idempotency_key),
    )
}

fn network(network: &PayableNetwork<'_>) -> String {
    let PayableNetwork { name, caip2, node, .. } = *network;
    let (caip2, name, node) = (quoted(caip2), quoted(name), quoted_or_null(node));
    format!("{{\"network\":{caip2},\"name\":{name},\"node\":{node}}}")
}

fn quoted_or_null(text: Option<&str>) -> String {
    text.map_or_else(|| "null".to_owned(), quoted)
}

/// Text as a JSON string, with every character escaped that could end a script, start a comment
/// or be changed by an HTML parser.
fn quoted(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + 2);
    written.push('"');
    for letter in text.chars() {
        if letter.is_control() || matches!(letter, '"' | '\\') || needs_escape(letter) {
            escape(&mut written, letter);
        } else {
            written.push(letter);
        }
    }
    written.push('"');
    written
}

/// Escapes JSON for HTML. Outside of its strings there is nothing to escape.
fn escaped_json(json: &str) -> String {
    let mut written = String::with_capacity(json.len());
    for letter in json.chars() {
        if needs_escape(letter) {
            escape(&mut written, letter);
        } else {
            written.push(letter);
        }
    }
    written
}

/// Characters that are special in HTML or in scripts.
fn needs_escape(letter: char) -> bool {
    matches!(letter, '<' | '>' | '&' | '\u{2028}' | '\u{2029}')
}

/// For characters of at most four hexadecimal digits.
fn escape(written: &mut String, letter: char) {
    // Writing to a string cannot fail.
    let _ = write!(written, "\\u{:04x}", u32::from(letter));
}

#[cfg(test)]
mod tests;
