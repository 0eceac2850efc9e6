//! The content of a tool.

use serde_json::{Map, Value, json};

use crate::mcp::json::{JsonObject, JsonValue};
use crate::mcp::public_content::PublicContent;

/// A public read-only tool.
pub(crate) trait Tool: Sync {
    fn name(&self) -> &'static str;
    fn title(&self) -> &'static str;
    fn description(&self) -> &'static str;
    /// A question that this tool answers.
    fn example(&self) -> &'static str;
    /// The properties of its arguments, and the required ones.
    fn input(&self) -> ToolInput;
    fn output(&self) -> Value;
    /// Its content, computed once.
    fn prepare(&self, content: &PublicContent) -> ToolContent;
}

/// What a tool answers.
pub(crate) enum ToolContent {
    /// The same result for every call.
    Fixed(Value),
    /// One result for each value of an argument.
    ByKey(LookupKey, Vec<(String, Value)>),
    /// A search for each call.
    Search(Box<dyn SearchTool>),
}

/// The argument that selects a result.
pub(crate) struct LookupKey {
    pub(crate) argument: &'static str,
    pub(crate) characters_max: usize,
    /// The error for an unknown key, with what to do next.
    pub(crate) not_found_message: &'static str,
}

pub(crate) trait SearchTool: Send + Sync {
    /// The result as JSON text.
    fn find(&self, arguments: &ToolArguments<'_>) -> Result<String, ToolError>;
}

pub(crate) struct ToolInput {
    pub(crate) properties: Value,
    pub(crate) required: &'static [&'static str],
}

/// An error message that says what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolError(pub(crate) String);

pub(crate) struct ToolArguments<'a>(pub(crate) &'a JsonObject<'a>);

impl ToolError {
    /// All errors together, or none.
    pub(crate) fn all(faults: impl Iterator<Item = String>) -> Result<(), Self> {
        let messages: Vec<String> = faults.collect();
        if messages.is_empty() { Ok(()) } else { Err(Self(messages.join(" "))) }
    }
}

impl<'a> ToolArguments<'a> {
    /// A string of 1 to `characters_max` characters.
    pub(crate) fn text(&self, name: &str, characters_max: usize) -> Result<&'a str, ToolError> {
        let text = self.0.text(name);
        text.filter(|text| !text.trim().is_empty() && text.chars().count() <= characters_max)
            .ok_or_else(|| {
                ToolError(format!("{name}: must be a string of 1 to {characters_max} characters."))
            })
    }

    pub(super) fn optional(&self, name: &str) -> Option<&'a JsonValue<'a>> {
        self.0.get(name).filter(|value| **value != JsonValue::Null)
    }
}

/// The schema of a string of limited length.
pub(crate) fn text(characters_max: usize, description: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": characters_max, "description": description })
}

/// The schema of an object whose members are all required.
pub(crate) fn object(members: &[(&str, Value)]) -> Value {
    let properties: Map<String, Value> =
        members.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    let required: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

pub(crate) fn string() -> Value {
    json!({ "type": "string" })
}

pub(crate) fn list(items: &Value) -> Value {
    json!({ "type": "array", "items": items })
}
