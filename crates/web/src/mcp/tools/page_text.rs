//! `read_public_page_markdown`: one page.

use serde_json::{Value, json};

use super::tool::{LookupKey, Tool, ToolContent, ToolInput, object, string};
use crate::mcp::public_content::PublicContent;

const PATH_CHARACTERS: usize = 200;

pub(crate) struct ReadPublicPageMarkdown;

impl Tool for ReadPublicPageMarkdown {
    fn name(&self) -> &'static str {
        "read_public_page_markdown"
    }

    fn title(&self) -> &'static str {
        "Read public page as Markdown"
    }

    fn description(&self) -> &'static str {
        "Read one public page as Markdown. The path must be one that list_public_pages returns."
    }

    fn example(&self) -> &'static str {
        "What do the terms of service say?"
    }

    fn input(&self) -> ToolInput {
        let path = json!({
            "type": "string",
            "pattern": "^/",
            "maxLength": PATH_CHARACTERS,
            "description": "Page path, for example /invest",
        });
        ToolInput { properties: json!({ "path": path }), required: &["path"] }
    }

    fn output(&self) -> Value {
        object(&[
            ("path", string()),
            ("title", string()),
            ("language", string()),
            ("markdown", string()),
        ])
    }

    fn prepare(&self, content: &PublicContent) -> ToolContent {
        let key = LookupKey {
            argument: "path",
            characters_max: PATH_CHARACTERS,
            not_found_message: "No public page has this path. Call list_public_pages for all.",
        };
        let pages = content.pages.iter().map(|page| {
            let shown = json!({
                "path": page.path,
                "title": page.title,
                "language": page.language.code(),
                "markdown": page.markdown,
            });
            (page.path.clone(), shown)
        });
        ToolContent::ByKey(key, pages.collect())
    }
}
