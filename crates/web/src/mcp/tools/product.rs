//! `get_product`: one product, whole.

use content::product::Product;
use serde_json::{Value, json};

use super::{Input, Key, Knowledge, Tool, object, string, text};
use crate::discovery::quote::availability;
use crate::mcp::library::Library;

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

    fn input(&self) -> Input {
        let slug = text(SLUG_CHARACTERS, "Product slug, for example signer-mini");
        Input { properties: json!({ "slug": slug }), required: &["slug"] }
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

    fn learn(&self, library: &Library) -> Knowledge {
        let key = Key {
            argument: "slug",
            characters_max: SLUG_CHARACTERS,
            otherwise: "No product has this slug. Call list_shop_products for all slugs.",
        };
        let products = library.catalog().products.iter();
        let answers = products.map(|product| (product.slug.clone(), whole(library, product)));
        Knowledge::Each(key, answers.collect())
    }
}

/// Everything about a product.
pub(crate) fn whole(library: &Library, product: &Product) -> Value {
    let specification: serde_json::Map<String, Value> =
        product.specification.iter().map(|line| (line.name.clone(), json!(line.value))).collect();
    let mut shown = brief(library, product);
    shown["description"] = json!(product.description.trim());
    shown["specification"] = json!(specification);
    shown["checkout_url"] = json!(library.premises.url(&product.checkout_path()));
    shown
}

/// What a list says about a product.
pub(crate) fn brief(library: &Library, product: &Product) -> Value {
    json!({
        "slug": product.slug,
        "name": product.name,
        "category": product.kind,
        "price": { "amount": product.price_plain(), "currency": "EUR" },
        "availability": availability(product),
        "url": library.premises.url(&product.path()),
    })
}

pub(crate) fn price_schema() -> Value {
    object(&[("amount", string()), ("currency", string())])
}
