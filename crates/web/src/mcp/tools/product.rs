//! `get_product`: one product, whole.

use content::product::Product;
use serde_json::{Value, json};

use super::tool::{LookupKey, Tool, ToolContent, ToolInput, object, string, text};
use crate::discovery::shop::quote::availability;
use crate::mcp::public_content::PublicContent;

pub(crate) const SLUG_CHARACTERS: usize = 100;

pub(crate) struct GetProduct;

impl Tool for GetProduct {
    fn name(&self) -> &'static str {
        "get_product"
    }

    fn title(&self) -> &'static str {
        "Get product"
    }

    fn description(&self) -> &'static str {
        "Get one product by the slug that list_shop_products returned: description, specification, \
         price, availability and where its checkout challenge is."
    }

    fn example(&self) -> &'static str {
        "What does this product cost, and is it in stock?"
    }

    fn input(&self) -> ToolInput {
        let slug = text(SLUG_CHARACTERS, "Product slug, for example signer-mini");
        ToolInput { properties: json!({ "slug": slug }), required: &["slug"] }
    }

    fn output(&self) -> Value {
        object(&[
            ("slug", string()),
            ("name", string()),
            ("category", string()),
            ("description", string()),
            ("specification", json!({ "type": "object" })),
            ("price", price_schema()),
            ("availability", string()),
            ("url", string()),
            ("checkout_url", string()),
        ])
    }

    fn prepare(&self, content: &PublicContent) -> ToolContent {
        let key = LookupKey {
            argument: "slug",
            characters_max: SLUG_CHARACTERS,
            not_found_message: "No product has this slug. Call list_shop_products for all slugs.",
        };
        let products = content.catalog().products.iter();
        let answers =
            products.map(|product| (product.slug.clone(), full_product(content, product)));
        ToolContent::ByKey(key, answers.collect())
    }
}

/// Everything about a product.
pub(crate) fn full_product(content: &PublicContent, product: &Product) -> Value {
    let specification: serde_json::Map<String, Value> =
        product.specification.iter().map(|line| (line.name.clone(), json!(line.value))).collect();
    let mut shown = brief(content, product);
    shown["description"] = json!(product.description.trim());
    shown["specification"] = json!(specification);
    shown["checkout_url"] = json!(content.facts.url(&product.checkout_path()));
    shown
}

/// What a list says about a product.
pub(crate) fn brief(content: &PublicContent, product: &Product) -> Value {
    json!({
        "slug": product.slug,
        "name": product.name,
        "category": product.kind,
        "price": { "amount": product.price_plain(), "currency": "EUR" },
        "availability": availability(product),
        "url": content.facts.url(&product.path()),
    })
}

pub(crate) fn price_schema() -> Value {
    object(&[("amount", string()), ("currency", string())])
}
