//! The tools with their prepared results, and their definitions for `tools/list`.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::json::JsonObject;
use super::message::{INVALID_PARAMS, RpcError};
use super::public_content::PublicContent;
use super::result_body::ResultBody;
use super::tools::TOOLS;
use super::tools::tool::{
    LookupKey, SearchTool, Tool, ToolArguments, ToolContent, ToolError, ToolInput,
};

pub(super) fn definitions() -> Value {
    TOOLS.iter().map(|tool| definition(*tool)).collect()
}

fn definition(tool: &dyn Tool) -> Value {
    let ToolInput { properties, required } = tool.input();
    let mut input = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        input["required"] = json!(required);
    }
    json!({
        "name": tool.name(),
        "title": tool.title(),
        "description": tool.description(),
        "inputSchema": input,
        "outputSchema": tool.output(),
        "annotations": {
            "title": tool.title(),
            "readOnlyHint": true,
            "destructiveHint": false,
            "idempotentHint": true,
            "openWorldHint": false,
        },
    })
}

/// All tools.
pub(super) struct ToolSet(Vec<PreparedTool>);

struct PreparedTool {
    name: &'static str,
    arguments: Vec<String>,
    required: &'static [&'static str],
    content: PreparedContent,
}

/// Content with serialized results.
enum PreparedContent {
    Fixed(ResultBody),
    ByKey { by: LookupKey, answers: HashMap<String, ResultBody> },
    Search(Box<dyn SearchTool>),
}

impl ToolSet {
    pub(super) fn new(content: &PublicContent) -> Self {
        Self(TOOLS.iter().map(|tool| PreparedTool::new(*tool, content)).collect())
    }

    /// Adds a tool that panics.
    #[cfg(test)]
    pub(super) fn add_panicking_tool(&mut self) {
        struct Broken;
        impl SearchTool for Broken {
            fn find(&self, _: &ToolArguments<'_>) -> Result<String, ToolError> {
                panic!("as the test wants it")
            }
        }
        let content = PreparedContent::Search(Box::new(Broken));
        self.0.push(PreparedTool { name: "broken", arguments: Vec::new(), required: &[], content });
    }

    /// An unknown tool is a protocol error. An invalid argument is a tool error, because a model
    /// can correct it.
    pub(super) fn call(&self, params: &JsonObject<'_>) -> Result<Cow<'_, ResultBody>, RpcError> {
        let invalid = |message: &'static str| RpcError::new(INVALID_PARAMS, message);
        let name = params.text("name");
        let name = name.ok_or_else(|| invalid("name: required; tools/list returns all names."))?;
        let tool = self.0.iter().find(|tool| tool.name == name);
        let tool = tool.ok_or_else(|| invalid("Unknown tool; tools/list returns all tools."))?;
        let none = JsonObject::default();
        let arguments = match params.get("arguments") {
            None => &none,
            Some(arguments) => {
                arguments.object().ok_or_else(|| invalid("arguments: must be an object."))?
            }
        };
        let answer = tool.check(arguments).and_then(|()| tool.answer(&ToolArguments(arguments)));
        Ok(answer.unwrap_or_else(|ToolError(message)| Cow::Owned(ResultBody::tool_error(&message))))
    }
}

impl PreparedTool {
    fn new(tool: &dyn Tool, content: &PublicContent) -> Self {
        let ToolInput { properties, required } = tool.input();
        let result = |answer: &Value| ResultBody::tool_result(&answer.to_string());
        Self {
            name: tool.name(),
            arguments: properties.as_object().into_iter().flat_map(Map::keys).cloned().collect(),
            required,
            content: match tool.prepare(content) {
                ToolContent::Fixed(answer) => PreparedContent::Fixed(result(&answer)),
                ToolContent::ByKey(by, answers) => {
                    let answers = answers.into_iter().map(|(key, answer)| (key, result(&answer)));
                    PreparedContent::ByKey { by, answers: answers.collect() }
                }
                ToolContent::Search(search) => PreparedContent::Search(search),
            },
        }
    }

    /// Reports every missing and every unknown argument.
    fn check(&self, arguments: &JsonObject<'_>) -> Result<(), ToolError> {
        let known = |name: &&str| self.arguments.iter().any(|known| known == name);
        let unknown = arguments.names().filter(|name| !known(name));
        let unknown = unknown.map(|name| format!("{name}: is not an argument of {}.", self.name));
        let missing = self.required.iter().filter(|name| arguments.get(name).is_none());
        let missing = missing.map(|name| format!("{name}: is required."));
        ToolError::all(missing.chain(unknown))
    }

    fn answer(&self, arguments: &ToolArguments<'_>) -> Result<Cow<'_, ResultBody>, ToolError> {
        match &self.content {
            PreparedContent::Fixed(result) => Ok(Cow::Borrowed(result)),
            PreparedContent::ByKey { by, answers } => {
                let key = arguments.text(by.argument, by.characters_max)?;
                let found = answers.get(key).map(Cow::Borrowed);
                found.ok_or_else(|| ToolError(by.not_found_message.to_owned()))
            }
            PreparedContent::Search(search) => {
                search.find(arguments).map(|found| Cow::Owned(ResultBody::tool_result(&found)))
            }
        }
    }
}

#[cfg(test)]
mod tests;
