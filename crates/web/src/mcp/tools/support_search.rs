//! `search_support_faq`: support answers that match a query.

use content::faq::{self, SupportAnswer};
use content::search::SearchIndex;
use serde_json::{Value, json};

use super::tool::{
    SearchTool, Tool, ToolArguments, ToolContent, ToolError, ToolInput, list, object, string, text,
};
use crate::mcp::public_content::PublicContent;

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

    fn input(&self) -> ToolInput {
        let query = text(QUERY_CHARACTERS, "Words to look for");
        ToolInput { properties: json!({ "query": query }), required: &["query"] }
    }

    fn output(&self) -> Value {
        let result = object(&[("id", string()), ("question", string()), ("topic", string())]);
        object(&[("query", string()), ("results", list(&result))])
    }

    fn prepare(&self, content: &PublicContent) -> ToolContent {
        let answers = &content.catalog().answers;
        let entry = |answer: &SupportAnswer| {
            let SupportAnswer { id, question, topic, .. } = answer;
            json!({ "id": id, "question": question, "topic": topic }).to_string()
        };
        let entries = answers.iter().map(entry).collect();
        ToolContent::Search(Box::new(Answers { index: faq::index(answers), entries }))
    }
}

struct Answers {
    index: SearchIndex,
    /// The entry of each answer in a result, as JSON.
    entries: Vec<String>,
}

impl SearchTool for Answers {
    fn find(&self, arguments: &ToolArguments<'_>) -> Result<String, ToolError> {
        let query = arguments.text("query", QUERY_CHARACTERS)?;
        let found = self.index.find(query).into_iter().take(RESULTS_MAX);
        let entries: Vec<&str> = found.map(|found| self.entries[found.text].as_str()).collect();
        Ok(results(query, &entries.join(",")))
    }
}

/// The result of a search, from the JSON of its entries.
pub(super) fn results(query: &str, entries: &str) -> String {
    format!(r#"{{"query":{},"results":[{entries}]}}"#, json!(query))
}
