//! Texts with their placeholders filled in, and amounts and times as a language writes them.

use minijinja::context;
use minijinja::value::Value;

use crate::markdown;
use crate::site::{Language, UiWords};

/// The text of a key, with words in braces replaced. An unknown key is an empty text; tests look
/// for them.
pub(super) fn phrase(texts: &UiWords, key: &str, values: &[(&str, &str)]) -> String {
    replace(texts.get(key).map(String::as_str).unwrap_or_default(), values)
}

/// A text with words in braces replaced.
pub(super) fn replace(text: &str, values: &[(&str, &str)]) -> String {
    let mut text = text.to_owned();
    for (name, value) in values {
        text = text.replace(&format!("{{{name}}}"), value);
    }
    text
}

/// A text of ours that may contain links, as HTML.
pub(super) fn linked(texts: &UiWords, key: &str) -> String {
    markdown::fragment(&phrase(texts, key, &[]))
}

/// An amount with the decimal sign of the language.
pub(super) fn amount(language: Language, amount: &str) -> String {
    match language {
        Language::En => amount.to_owned(),
        Language::De | Language::Es | Language::It => amount.replace('.', ","),
    }
}

/// A time for programs and, without seconds, for people.
pub(super) fn time(at: &str) -> Value {
    context! { datetime => at, shown => shown_time(at) }
}

pub(super) fn shown_time(at: &str) -> String {
    let shown = at.get(..16).map_or_else(|| at.to_owned(), |at| at.replace('T', " "));
    format!("{shown} UTC")
}
