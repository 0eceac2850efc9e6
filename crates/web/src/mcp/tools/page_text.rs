//! `read_public_page_markdown`: one page.

use serde_json::{Value, json};

use super::{Arguments, Input, Tool, ToolFault, object, string};
use crate::mcp::library::Library;

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

    fn input(&self) -> Input {
        let path = json!({
            "type": "string",
            "pattern": "^/",
            "maxLength": PATH_CHARACTERS,
            "description": "Page path, for example /invest",
        });
        Input { properties: json!({ "path": path }), required: &["path"] }
    }

    fn output(&self) -> Value {
        object(&[
            ("path", string()),
            ("title", string()),
            ("language", string()),
            ("markdown", string()),
        ])
    }

    fn call(&self, library: &Library, arguments: &Arguments<'_>) -> Result<Value, ToolFault> {
        let path = arguments.text("path", PATH_CHARACTERS)?;
        let page = library.page(path).ok_or_else(|| {
            ToolFault("No public page has this path. Call list_public_pages for all.".to_owned())
        })?;
        Ok(json!({
            "path": page.path,
            "title": page.title,
            "language": page.language.code(),
            "markdown": page.markdown,
        }))
    }
}
