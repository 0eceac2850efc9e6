//! What a browser is shown at a price tag: words for a person, and data for the script that pays.

use std::fmt::Write;

use minijinja::value::Value;
use minijinja::{Environment, context};

use super::{Renderer, rendered};
use crate::fault::ContentFault;

const TEMPLATE: &str = "paywall.html";

/// An order that a person is asked to pay. It holds what the caller wrote, so it
/// cannot print itself and its page is for the caller alone.
#[derive(Clone, Copy)]
pub struct Paywall<'a> {
    /// 32 hexadecimal digits.
    pub order: &'a str,
    /// The most that it will cost in USDC, as people write it: `3.50`.
    pub most: &'a str,
    /// In the sequence in which they are offered.
    pub networks: &'a [Payable<'a>],
    /// What `PAYMENT-REQUIRED` says, as JSON and not yet as base64.
    pub challenge: &'a str,
    pub request: Unpaid<'a>,
    pub money: Money,
}

/// A network on which the order can be paid.
#[derive(Clone, Copy)]
pub struct Payable<'a> {
    /// As people call it: `Base`.
    pub name: &'a str,
    /// As protocols call it: `eip155:8453`.
    pub caip2: &'a str,
    pub payee: &'a str,
    /// The contract of USDC.
    pub asset: &'a str,
    /// Where a wallet that does not know the network can reach it. None for the
    /// network's own public node, which the script knows.
    pub node: Option<&'a str>,
}

/// The request that was answered with the page, which the script will repeat.
#[derive(Clone, Copy)]
pub struct Unpaid<'a> {
    /// On this site: `/api/x402/postcards`.
    pub path: &'a str,
    /// As it came, to the byte.
    pub body: &'a str,
    /// The caller's own name for the operation, if it came as a header.
    pub idempotency_key: Option<&'a str>,
}

/// What a payment is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Money {
    Real,
    /// The sandbox's, on chains of its own that bear the numbers of real ones.
    Play,
}

/// The page, read and tried when the house opens. It borrows nothing.
pub struct PaywallPage {
    templates: Environment<'static>,
    around: Value,
}

impl Renderer<'_> {
    /// The page with everything but the order. A template that cannot be filled
    /// is found here and not by a visitor.
    pub fn paywall(&self) -> Result<PaywallPage, ContentFault> {
        let language = self.catalog.site.default_language();
        let around = context! {
            language => language.code(),
            scripts => self.frame.paywall,
            ..self.surroundings(language, "", Vec::new())
        };
        let page = PaywallPage { templates: self.templates.clone(), around };
        page.write(&TRIAL)?;
        Ok(page)
    }
}

impl PaywallPage {
    /// The whole page. It is for the sender of the request only: nobody may keep it.
    pub fn write(&self, wall: &Paywall<'_>) -> Result<String, ContentFault> {
        let networks = wall.networks.iter().map(|network| {
            let Payable { name, caip2, payee, asset, node: _ } = *network;
            context! { name, caip2, payee, asset }
        });
        let context = context! {
            order => wall.order,
            most => wall.most,
            networks => networks.collect::<Vec<_>>(),
            path => wall.request.path,
            play => wall.money == Money::Play,
            data => data(wall),
            ..self.around.clone()
        };
        rendered(&self.templates, TEMPLATE, context)
    }
}

const TRIAL: Paywall<'static> = Paywall {
    order: "",
    most: "",
    networks: &[Payable { name: "", caip2: "", payee: "", asset: "", node: None }],
    challenge: "{}",
    request: Unpaid { path: "", body: "", idempotency_key: None },
    money: Money::Play,
};

/// What the script reads, as JSON that means nothing to HTML.
fn data(wall: &Paywall<'_>) -> String {
    let Unpaid { path, body, idempotency_key } = wall.request;
    let networks: Vec<String> = wall.networks.iter().map(network).collect();
    format!(
        "{{\"order\":{},\"challenge\":{},\"networks\":[{}],\
         \"request\":{{\"path\":{},\"body\":{},\"idempotency_key\":{}}}}}",
        quoted(wall.order),
        inert(wall.challenge),
        networks.join(","),
        quoted(path),
        quoted(body),
        perhaps(idempotency_key),
    )
}

fn network(network: &Payable<'_>) -> String {
    let Payable { name, caip2, node, .. } = *network;
    let (caip2, name, node) = (quoted(caip2), quoted(name), perhaps(node));
    format!("{{\"network\":{caip2},\"name\":{name},\"node\":{node}}}")
}

fn perhaps(text: Option<&str>) -> String {
    text.map_or_else(|| "null".to_owned(), quoted)
}

/// Text as a JSON string, without any letter that ends a script, begins a
/// comment or is changed on its way through an HTML parser.
fn quoted(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + 2);
    written.push('"');
    for letter in text.chars() {
        if letter.is_control() || matches!(letter, '"' | '\\') || wakes(letter) {
            escape(&mut written, letter);
        } else {
            written.push(letter);
        }
    }
    written.push('"');
    written
}

/// JSON that is written already. Outside of its strings there is nothing to escape.
fn inert(json: &str) -> String {
    let mut written = String::with_capacity(json.len());
    for letter in json.chars() {
        if wakes(letter) {
            escape(&mut written, letter);
        } else {
            written.push(letter);
        }
    }
    written
}

/// Letters that HTML or a script would not leave alone.
fn wakes(letter: char) -> bool {
    matches!(letter, '<' | '>' | '&' | '\u{2028}' | '\u{2029}')
}

/// Only letters with four hexadecimal digits or less come here.
fn escape(written: &mut String, letter: char) {
    // Writing to a string cannot fail.
    let _ = write!(written, "\\u{:04x}", u32::from(letter));
}

#[cfg(test)]
mod tests;
