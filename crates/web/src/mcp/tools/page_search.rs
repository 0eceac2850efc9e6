//! `search_public_pages`: which pages speak of something.

use content::site::Language;
use serde_json::{Value, json};

use super::support_search::QUERY_CHARACTERS;
use super::{Arguments, Input, Tool, ToolFault, list, object, string, text};
use crate::mcp::library::{Library, PublicPage};

const LIMIT_DEFAULT: u64 = 5;
const LIMIT_MAX: u64 = 20;
const SNIPPET_CHARACTERS: usize = 160;
/// A word in the title says more about a page than one inside of it.
const TITLE_WEIGHT: usize = 10;
/// How often a word counts at most, so that a long page does not win by length.
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

    fn input(&self) -> Input {
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
        Input { properties, required: &["query"] }
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

    fn call(&self, library: &Library, arguments: &Arguments<'_>) -> Result<Value, ToolFault> {
        let query = arguments.text("query", QUERY_CHARACTERS)?;
        let language = language(arguments)?;
        let limit = limit(arguments)?;
        let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
        let mut found: Vec<(usize, &PublicPage)> = library
            .pages
            .iter()
            .filter(|page| language.is_none_or(|language| page.language == language))
            .map(|page| (score(page, &words), page))
            .filter(|(score, _)| *score > 0)
            .collect();
        found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        let results: Vec<Value> = found
            .into_iter()
            .take(limit)
            .map(|(_, page)| {
                json!({
                    "path": page.path,
                    "title": page.title,
                    "language": page.language.code(),
                    "snippet": snippet(page, &words),
                })
            })
            .collect();
        Ok(json!({ "query": query, "results": results }))
    }
}

fn language(arguments: &Arguments<'_>) -> Result<Option<Language>, ToolFault> {
    let Some(asked) = arguments.optional("language") else { return Ok(None) };
    let known = Language::ALL.into_iter().find(|language| *asked == language.code());
    known.map(Some).ok_or_else(|| {
        ToolFault("language: must be one of en, de, es, it, or left out.".to_owned())
    })
}

fn limit(arguments: &Arguments<'_>) -> Result<usize, ToolFault> {
    let asked = arguments.optional("limit").map_or(Some(LIMIT_DEFAULT), Value::as_u64);
    let limit = asked.filter(|limit| (1..=LIMIT_MAX).contains(limit));
    limit.and_then(|limit| usize::try_from(limit).ok()).ok_or_else(|| {
        ToolFault(format!("limit: must be a whole number from 1 to {LIMIT_MAX}, or left out."))
    })
}

fn score(page: &PublicPage, words: &[String]) -> usize {
    let (title, text) = (page.title.to_lowercase(), page.markdown.to_lowercase());
    let points = words.iter().map(|word| {
        let named = if title.contains(word) { TITLE_WEIGHT } else { 0 };
        named + text.matches(word.as_str()).take(HITS_MAX).count()
    });
    points.sum()
}

/// The first line that holds one of the words, shortened.
fn snippet(page: &PublicPage, words: &[String]) -> String {
    let holds = |line: &&str| {
        let line = line.to_lowercase();
        words.iter().any(|word| line.contains(word))
    };
    let line = page.markdown.lines().find(holds).unwrap_or(&page.description);
    line.trim_start_matches(['#', '*', '-', '|', ' ']).chars().take(SNIPPET_CHARACTERS).collect()
}
