//! `read_public_page_markdown`: one page.

use serde_json::{Value, json};

use super::{Input, Key, Knowledge, Tool, object, string};
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

    fn learn(&self, library: &Library) -> Knowledge {
        let key = Key {
            argument: "path",
            characters_max: PATH_CHARACTERS,
            otherwise: "No public page has this path. Call list_public_pages for all.",
        };
        let pages = library.pages.iter().map(|page| {
            let shown = json!({
                "path": page.path,
                "title": page.title,
                "language": page.language.code(),
                "markdown": page.markdown,
            });
            (page.path.clone(), shown)
        });
        Knowledge::Each(key, pages.collect())
    }
}
