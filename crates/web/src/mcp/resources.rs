//! Pages, products and support answers as resources.

use serde_json::{Value, json};

use super::public_content::PublicContent;
use super::tools::product;

pub(super) const PAGE: &str = "page://site";
pub(super) const PRODUCT: &str = "shop://products/";
pub(super) const ANSWER: &str = "support://answers/";

const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";

/// Every page, then every product, then every support answer.
pub(super) fn list(content: &PublicContent) -> Vec<Value> {
    let catalog = content.catalog();
    let entry = |uri: String, name: &str, title: &str, description: &str, media_type: &str| {
        json!({
            "uri": uri,
            "name": name,
            "title": title,
            "description": description,
            "mimeType": media_type,
        })
    };
    let pages = content.pages.iter().map(|page| {
        let uri = format!("{PAGE}{}", page.path);
        entry(uri, &page.path, &page.title, &page.description, MARKDOWN)
    });
    let products = catalog.products.iter().map(|product| {
        let uri = format!("{PRODUCT}{}", product.slug);
        entry(uri, &product.slug, &product.name, &product.summary, JSON)
    });
    let answers = catalog.answers.iter().map(|answer| {
        let uri = format!("{ANSWER}{}", answer.id);
        entry(uri, &answer.id, &answer.question, &answer.topic, MARKDOWN)
    });
    pages.chain(products).chain(answers).collect()
}

/// `{+path}` keeps the slashes of a path.
pub(super) fn templates() -> Value {
    json!([
        {
            "uriTemplate": format!("{PAGE}{{+path}}"),
            "name": "page",
            "title": "Public page",
            "description": "A public page as Markdown, by its path.",
            "mimeType": MARKDOWN,
        },
        {
            "uriTemplate": format!("{PRODUCT}{{slug}}"),
            "name": "product",
            "title": "Shop product",
            "description": "A product of the shop as JSON, by its slug.",
            "mimeType": JSON,
        },
        {
            "uriTemplate": format!("{ANSWER}{{id}}"),
            "name": "answer",
            "title": "Support answer",
            "description": "A support answer as Markdown, by its id.",
            "mimeType": MARKDOWN,
        },
    ])
}

/// The text of each resource, with its media type.
pub(super) fn texts(content: &PublicContent) -> Vec<(String, &'static str, String)> {
    let catalog = content.catalog();
    let pages = content
        .pages
        .iter()
        .map(|page| (format!("{PAGE}{}", page.path), MARKDOWN, page.markdown.clone()));
    let products = catalog.products.iter().map(|product| {
        let text = product::full_product(content, product).to_string();
        (format!("{PRODUCT}{}", product.slug), JSON, text)
    });
    let answers = catalog.answers.iter().map(|answer| {
        let text = format!("# {}\n\n{}\n", answer.question, answer.answer.trim());
        (format!("{ANSWER}{}", answer.id), MARKDOWN, text)
    });
    pages.chain(products).chain(answers).collect()
}
