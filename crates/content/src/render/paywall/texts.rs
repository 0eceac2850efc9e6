//! The texts of the payment page in one language: for the page itself and for its script.

use std::collections::BTreeMap;

use minijinja::value::Value;

use super::answers::{REASONS, REFUSALS};
use super::script_json::quoted;
use crate::markdown;
use crate::render::phrases::replace;
use crate::site::UiWords;

/// The beginnings of keys that the template uses.
const PAGE: &[&str] = &[
    "payment_", "wallet_", "card_", "step_", "steps_", "bought_", "paying_", "money_", "program_",
    "private_",
];
/// The beginnings of keys that the script uses.
const SCRIPT: &[&str] = &[
    "payment_",
    "wallet_",
    "card_",
    "step_",
    "say_",
    "smart_",
    "refusal_",
    "outcome_",
    "order_done",
    "order_number",
    "order_charged",
    "order_network",
    "order_transaction",
    "status_",
];
/// Texts with links or code, as HTML.
const LINKED: &[&str] =
    &["wallet_none", "noscript_payment", "paying_lost", "program_text", "program_more"];

pub(super) struct PageTexts {
    plain: UiWords,
    linked: BTreeMap<&'static str, String>,
    for_script: String,
}

impl PageTexts {
    pub(super) fn new(texts: &UiWords) -> Self {
        let plain = chosen(texts, PAGE).map(|(key, text)| (key.clone(), text.clone())).collect();
        let linked = LINKED.iter().map(|key| {
            (*key, markdown::fragment(texts.get(*key).map(String::as_str).unwrap_or_default()))
        });
        Self { plain, linked: linked.collect(), for_script: for_script(texts) }
    }

    /// Plain texts with their placeholders replaced.
    pub(super) fn filled(&self, values: &[(&str, &str)]) -> UiWords {
        self.plain.iter().map(|(key, text)| (key.clone(), replace(text, values))).collect()
    }

    /// HTML with its placeholders replaced.
    pub(super) fn linked(&self, values: &[(&str, &str)]) -> BTreeMap<&'static str, Value> {
        let values: Vec<_> = values.iter().map(|(name, value)| (*name, escaped(value))).collect();
        let filled = self.linked.iter().map(|(key, html)| {
            let mut html = html.clone();
            for (name, value) in &values {
                // Braces in the target of a link are percent-encoded.
                html = html.replace(&format!("%7B{name}%7D"), value);
                html = html.replace(&format!("{{{name}}}"), value);
            }
            (*key, Value::from_safe_string(html))
        });
        filled.collect()
    }

    /// The texts of the script, as JSON without characters that are special in HTML.
    pub(super) fn for_script(&self) -> &str {
        &self.for_script
    }
}

fn for_script(texts: &UiWords) -> String {
    let named = chosen(texts, SCRIPT)
        .filter(|(key, _)| !key.starts_with("status_") || key.ends_with("_name"));
    let object = |pairs: Vec<String>| format!("{{{}}}", pairs.join(","));
    let pair = |(key, text): (&str, &str)| format!("{}:{}", quoted(key), quoted(text));
    let words = object(named.map(|(key, text)| pair((key, text))).collect());
    let reasons = object(REASONS.iter().copied().map(pair).collect());
    let refusals = object(REFUSALS.iter().copied().map(pair).collect());
    format!("{{\"words\":{words},\"reasons\":{reasons},\"refusals\":{refusals}}}")
}

fn chosen<'a>(
    texts: &'a UiWords,
    beginnings: &[&str],
) -> impl Iterator<Item = (&'a String, &'a String)> {
    texts.iter().filter(move |(key, _)| beginnings.iter().any(|start| key.starts_with(start)))
}

fn escaped(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => written.push_str("&amp;"),
            '<' => written.push_str("&lt;"),
            '>' => written.push_str("&gt;"),
            '"' => written.push_str("&quot;"),
            '\'' => written.push_str("&#x27;"),
            other => written.push(other),
        }
    }
    written
}
