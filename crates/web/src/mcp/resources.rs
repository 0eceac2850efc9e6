//! Pages, products and answers as resources with addresses of their own.

use serde_json::{Value, json};

use super::dispatch::Asked;
use super::era::Era;
use super::library::Library;
use super::message::{Fault, INVALID_PARAMS, RESOURCE_NOT_FOUND};
use super::tools::product;

pub(super) const PAGE: &str = "page://site";
pub(super) const PRODUCT: &str = "shop://products/";
pub(super) const ANSWER: &str = "support://answers/";

pub(super) fn list(library: &Library) -> Value {
    let pages = library.pages.iter().map(|page| {
        json!({
            "uri": format!("{PAGE}{}", page.path),
            "name": page.path,
            "title": page.title,
            "description": page.description,
            "mimeType": "text/markdown",
        })
    });
    pages.collect()
}

/// The braces with a plus keep the slashes of a path as they are.
pub(super) fn templates() -> Value {
    json!([
        {
            "uriTemplate": format!("{PAGE}{{+path}}"),
            "name": "page",
            "title": "Public page",
            "description": "A public page as Markdown, by its path.",
            "mimeType": "text/markdown",
        },
        {
            "uriTemplate": format!("{PRODUCT}{{slug}}"),
            "name": "product",
            "title": "Shop product",
            "description": "A product of the shop as JSON, by its slug.",
            "mimeType": "application/json",
        },
        {
            "uriTemplate": format!("{ANSWER}{{id}}"),
            "name": "answer",
            "title": "Support answer",
            "description": "A support answer as Markdown, by its id.",
            "mimeType": "text/markdown",
        },
    ])
}

pub(super) fn read(library: &Library, asked: &Asked<'_>) -> Result<Value, Fault> {
    let uri = asked.params.get("uri").and_then(Value::as_str).ok_or_else(|| {
        Fault::new(asked.id, INVALID_PARAMS, "uri: is missing; resources/list has them.")
    })?;
    let (media_type, text) = text(library, uri).ok_or_else(|| {
        let code = match asked.era {
            Era::Legacy => RESOURCE_NOT_FOUND,
            Era::Modern => INVALID_PARAMS,
        };
        let fault = Fault::new(asked.id, code, "Resource not found; resources/list has them.");
        Fault { data: Some(json!({ "uri": uri })), ..fault }
    })?;
    Ok(json!({ "contents": [{ "uri": uri, "mimeType": media_type, "text": text }] }))
}

/// Looked up in the lists of what is public, never in a file system.
fn text(library: &Library, uri: &str) -> Option<(&'static str, String)> {
    if let Some(path) = uri.strip_prefix(PAGE) {
        return library.page(path).map(|page| ("text/markdown", page.markdown.clone()));
    }
    if let Some(slug) = uri.strip_prefix(PRODUCT) {
        let found = library.catalog().product(slug)?;
        return Some(("application/json", product::whole(library, found).to_string()));
    }
    let id = uri.strip_prefix(ANSWER)?;
    let answer = library.catalog().answers.iter().find(|answer| answer.id == id)?;
    Some(("text/markdown", format!("# {}\n\n{}\n", answer.question, answer.answer.trim())))
}
