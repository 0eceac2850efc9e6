//! `list_public_pages`: what can be read.

use serde_json::{Value, json};

use super::{Input, Knowledge, Tool, list, object, string};
use crate::mcp::library::Library;

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

    fn input(&self) -> Input {
        Input { properties: json!({}), required: &[] }
    }

    fn output(&self) -> Value {
        let page = object(&[("path", string()), ("title", string()), ("language", string())]);
        object(&[("pages", list(&page))])
    }

    fn learn(&self, library: &Library) -> Knowledge {
        let pages: Vec<Value> = library
            .pages
            .iter()
            .map(|page| {
                json!({ "path": page.path, "title": page.title, "language": page.language.code() })
            })
            .collect();
        Knowledge::One(json!({ "pages": pages }))
    }
}
