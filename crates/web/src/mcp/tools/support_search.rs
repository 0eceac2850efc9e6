//! `search_support_faq`: which answers fit a question.

use content::faq::{self, Answer};
use content::search::Index;
use serde_json::{Value, json};

use super::{Arguments, Input, Knowledge, Search, Tool, ToolFault, list, object, string, text};
use crate::mcp::library::Library;

pub(crate) const QUERY_CHARACTERS: usize = 200;
const RESULTS_MAX: usize = 10;

pub(crate) struct SearchSupportFaq;

impl Tool for SearchSupportFaq {
    fn name(&self) -> &'static str {
        "search_support_faq"
    }

    fn title(&self) -> &'static str {
        "Search support FAQ"
    }

    fn description(&self) -> &'static str {
        "Search the public support questions. Returns ids for get_support_answer, best match first."
    }

    fn example(&self) -> &'static str {
        "Can I see a postcard before I pay?"
    }

    fn input(&self) -> Input {
        let query = text(QUERY_CHARACTERS, "Words to look for");
        Input { properties: json!({ "query": query }), required: &["query"] }
    }

    fn output(&self) -> Value {
        let result = object(&[("id", string()), ("question", string()), ("topic", string())]);
        object(&[("query", string()), ("results", list(&result))])
    }

    fn learn(&self, library: &Library) -> Knowledge {
        let answers = &library.catalog().answers;
        let entry = |answer: &Answer| {
            let Answer { id, question, topic, .. } = answer;
            json!({ "id": id, "question": question, "topic": topic }).to_string()
        };
        let entries = answers.iter().map(entry).collect();
        Knowledge::Search(Box::new(Answers { index: faq::index(answers), entries }))
    }
}

struct Answers {
    index: Index,
    /// What a result says about each answer, as JSON.
    entries: Vec<String>,
}

impl Search for Answers {
    fn find(&self, arguments: &Arguments<'_>) -> Result<String, ToolFault> {
        let query = arguments.text("query", QUERY_CHARACTERS)?;
        let found = self.index.find(query).into_iter().take(RESULTS_MAX);
        let entries: Vec<&str> = found.map(|found| self.entries[found.text].as_str()).collect();
        Ok(results(query, &entries.join(",")))
    }
}

/// The answer of a search, from the JSON of its results.
pub(super) fn results(query: &str, entries: &str) -> String {
    format!(r#"{{"query":{},"results":[{entries}]}}"#, json!(query))
}
