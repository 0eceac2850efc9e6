//! `list_shop_products`: what the shop sells.

use serde_json::{Value, json};

use super::product::{brief, price_schema};
use super::tool::{Tool, ToolContent, ToolInput, list, object, string};
use crate::mcp::public_content::PublicContent;

pub(crate) struct ListShopProducts;

impl Tool for ListShopProducts {
    fn name(&self) -> &'static str {
        "list_shop_products"
    }

    fn title(&self) -> &'static str {
        "List shop products"
    }

    fn description(&self) -> &'static str {
        "List every product of the Bitcoin hardware shop with slug, price and availability. Use \
         the slug with get_product."
    }

    fn example(&self) -> &'static str {
        "Which signing devices are sold here?"
    }

    fn input(&self) -> ToolInput {
        ToolInput { properties: json!({}), required: &[] }
    }

    fn output(&self) -> Value {
        let product = object(&[
            ("slug", string()),
            ("name", string()),
            ("category", string()),
            ("price", price_schema()),
            ("availability", string()),
            ("url", string()),
        ]);
        object(&[("count", json!({ "type": "integer" })), ("products", list(&product))])
    }

    fn prepare(&self, content: &PublicContent) -> ToolContent {
        let products = &content.catalog().products;
        let shown: Vec<Value> = products.iter().map(|product| brief(content, product)).collect();
        ToolContent::Fixed(json!({ "count": shown.len(), "products": shown }))
    }
}
