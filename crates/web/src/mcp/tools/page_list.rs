//! `list_public_pages`: all public pages.

use serde_json::{Value, json};

use super::tool::{Tool, ToolContent, ToolInput, list, object, string};
use crate::mcp::public_content::PublicContent;

pub(crate) struct ListPublicPages;

impl Tool for ListPublicPages {
    fn name(&self) -> &'static str {
        "list_public_pages"
    }

    fn title(&self) -> &'static str {
        "List public pages"
    }

    fn description(&self) -> &'static str {
        "List the public pages that read_public_page_markdown can return."
    }

    fn example(&self) -> &'static str {
        "Which pages does this site have?"
    }

    fn input(&self) -> ToolInput {
        ToolInput { properties: json!({}), required: &[] }
    }

    fn output(&self) -> Value {
        let page = object(&[("path", string()), ("title", string()), ("language", string())]);
        object(&[("pages", list(&page))])
    }

    fn prepare(&self, content: &PublicContent) -> ToolContent {
        let pages: Vec<Value> = content
            .pages
            .iter()
            .map(|page| {
                json!({ "path": page.path, "title": page.title, "language": page.language.code() })
            })
            .collect();
        ToolContent::Fixed(json!({ "pages": pages }))
    }
}
