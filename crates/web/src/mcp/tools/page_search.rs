//! `search_public_pages`: pages that contain given words.

use content::search::{SearchField, SearchIndex};
use content::site::Language;
use serde_json::{Value, json};

use super::support_search::{QUERY_CHARACTERS, results};
use super::tool::{
    SearchTool, Tool, ToolArguments, ToolContent, ToolError, ToolInput, list, object, string, text,
};
use crate::mcp::json::JsonValue;
use crate::mcp::public_content::{PublicContent, PublicPage};

const LIMIT_DEFAULT: u64 = 5;
const LIMIT_MAX: u64 = 20;
const SNIPPET_CHARACTERS: usize = 160;
/// A word in the title is more relevant than one in the body.
const TITLE_WEIGHT: usize = 10;
/// How often a word counts at most, so that length does not decide.
const HITS_MAX: usize = 5;

pub(crate) struct SearchPublicPages;

impl Tool for SearchPublicPages {
    fn name(&self) -> &'static str {
        "search_public_pages"
    }

    fn title(&self) -> &'static str {
        "Search public pages"
    }

    fn description(&self) -> &'static str {
        "Find public pages that contain the given words. Returns paths for \
         read_public_page_markdown, each with a short snippet."
    }

    fn example(&self) -> &'static str {
        "Where is self custody explained?"
    }

    fn input(&self) -> ToolInput {
        let codes = Language::ALL.map(Language::code);
        let properties = json!({
            "query": text(QUERY_CHARACTERS, "Words to look for"),
            "language": {
                "type": "string",
                "enum": codes,
                "description": "Only pages in this language",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": LIMIT_MAX,
                "default": LIMIT_DEFAULT,
                "description": "How many pages at most",
            },
        });
        ToolInput { properties, required: &["query"] }
    }

    fn output(&self) -> Value {
        let result = object(&[
            ("path", string()),
            ("title", string()),
            ("language", string()),
            ("snippet", string()),
        ]);
        object(&[("query", string()), ("results", list(&result))])
    }

    fn prepare(&self, content: &PublicContent) -> ToolContent {
        let index = SearchIndex::of(&content.pages.iter().map(fields).collect::<Vec<_>>());
        ToolContent::Search(Box::new(Pages {
            index,
            pages: content.pages.iter().map(Page::new).collect(),
        }))
    }
}

struct Pages {
    index: SearchIndex,
    pages: Vec<Page>,
}

/// What a result says about a page.
struct Page {
    language: Language,
    /// All but the snippet, as JSON without its last brace.
    entry: String,
    /// What is shown when no line holds a word.
    description: String,
    /// Each line as a snippet.
    lines: Vec<String>,
}

impl SearchTool for Pages {
    fn find(&self, arguments: &ToolArguments<'_>) -> Result<String, ToolError> {
        let query = arguments.text("query", QUERY_CHARACTERS);
        let (language, limit) = (language(arguments), limit(arguments));
        let faults = [query.as_ref().err(), language.as_ref().err(), limit.as_ref().err()];
        ToolError::all(faults.into_iter().flatten().map(|ToolError(message)| message.clone()))?;
        let (query, language, limit) = (query?, language?, limit?);
        let found = self.index.find(query).into_iter();
        let found = found.map(|found| (&self.pages[found.text], found.line));
        let in_language =
            found.filter(|(page, _)| language.is_none_or(|language| page.language == language));
        let entries: Vec<String> =
            in_language.take(limit).map(|(page, line)| page.entry_with_snippet(line)).collect();
        Ok(results(query, &entries.join(",")))
    }
}

impl Page {
    fn new(page: &PublicPage) -> Self {
        let PublicPage { path, title, description, language, markdown } = page;
        let mut entry =
            json!({ "path": path, "title": title, "language": language.code() }).to_string();
        entry.pop();
        Self {
            language: *language,
            entry,
            description: snippet(description),
            lines: markdown.lines().map(snippet).collect(),
        }
    }

    fn entry_with_snippet(&self, line: Option<usize>) -> String {
        let line = line.and_then(|line| self.lines.get(line)).unwrap_or(&self.description);
        format!(r#"{},"snippet":{}}}"#, self.entry, json!(line))
    }
}

fn fields(page: &PublicPage) -> Vec<SearchField<'_>> {
    vec![
        SearchField { text: &page.title, weight: TITLE_WEIGHT, hits_max: 1 },
        SearchField { text: &page.markdown, weight: 1, hits_max: HITS_MAX },
    ]
}

fn language(arguments: &ToolArguments<'_>) -> Result<Option<Language>, ToolError> {
    let Some(asked) = arguments.optional("language") else { return Ok(None) };
    let known = Language::ALL.into_iter().find(|language| asked.text() == Some(language.code()));
    known.map(Some).ok_or_else(|| {
        ToolError("language: must be one of en, de, es, it, or left out.".to_owned())
    })
}

fn limit(arguments: &ToolArguments<'_>) -> Result<usize, ToolError> {
    let asked = match arguments.optional("limit") {
        None => Some(LIMIT_DEFAULT),
        Some(JsonValue::Integer(limit)) => Some(*limit),
        Some(JsonValue::Null | JsonValue::Text(_) | JsonValue::Object(_) | JsonValue::Other) => {
            None
        }
    };
    let limit = asked.filter(|limit| (1..=LIMIT_MAX).contains(limit));
    limit.and_then(|limit| usize::try_from(limit).ok()).ok_or_else(|| {
        ToolError(format!("limit: must be a whole number from 1 to {LIMIT_MAX}, or left out."))
    })
}

/// The beginning of a line, without the signs that Markdown puts before it.
fn snippet(line: &str) -> String {
    line.trim_start_matches(['#', '*', '-', '|', ' ']).chars().take(SNIPPET_CHARACTERS).collect()
}
