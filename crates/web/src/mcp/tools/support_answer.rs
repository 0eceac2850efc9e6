//! `get_support_answer`: one answer in full.

use serde_json::{Value, json};

use super::tool::{LookupKey, Tool, ToolContent, ToolInput, object, string, text};
use crate::mcp::public_content::PublicContent;

const ID_CHARACTERS: usize = 100;

pub(crate) struct GetSupportAnswer;

impl Tool for GetSupportAnswer {
    fn name(&self) -> &'static str {
        "get_support_answer"
    }

    fn title(&self) -> &'static str {
        "Get support answer"
    }

    fn description(&self) -> &'static str {
        "Get the full answer for an id that search_support_faq returned, as Markdown."
    }

    fn example(&self) -> &'static str {
        "Show me the whole answer about refunds."
    }

    fn input(&self) -> ToolInput {
        let id = text(ID_CHARACTERS, "Answer id from a search result");
        ToolInput { properties: json!({ "id": id }), required: &["id"] }
    }

    fn output(&self) -> Value {
        object(&[
            ("id", string()),
            ("topic", string()),
            ("question", string()),
            ("answer_markdown", string()),
        ])
    }

    fn prepare(&self, content: &PublicContent) -> ToolContent {
        let key = LookupKey {
            argument: "id",
            characters_max: ID_CHARACTERS,
            not_found_message: "No answer has this id. Call search_support_faq for ids.",
        };
        let answers = content.catalog().answers.iter().map(|answer| {
            let shown = json!({
                "id": answer.id,
                "topic": answer.topic,
                "question": answer.question,
                "answer_markdown": answer.answer.trim(),
            });
            (answer.id.clone(), shown)
        });
        ToolContent::ByKey(key, answers.collect())
    }
}
