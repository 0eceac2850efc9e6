//! `search_support_faq`: which answers fit a question.

use content::faq;
use serde_json::{Value, json};

use super::{Arguments, Input, Tool, ToolFault, list, object, string, text};
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

    fn call(&self, library: &Library, arguments: &Arguments<'_>) -> Result<Value, ToolFault> {
        let query = arguments.text("query", QUERY_CHARACTERS)?;
        let found = faq::search(&library.catalog().answers, query, RESULTS_MAX);
        let results: Vec<Value> = found
            .into_iter()
            .map(|one| json!({ "id": one.id, "question": one.question, "topic": one.topic }))
            .collect();
        Ok(json!({ "query": query, "results": results }))
    }
}
