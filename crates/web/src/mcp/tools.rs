//! Nine public questions, a file each; none can reach an order, a payment or the network.

use serde_json::{Map, Value, json};

use super::library::Library;
use super::message::{Fault, INVALID_PARAMS};

mod discovery_documents;
mod page_list;
mod page_search;
mod page_text;
mod postcard_service;
pub(super) mod product;
mod product_list;
mod support_answer;
mod support_search;

/// A question about public content.
pub(crate) trait Tool: Sync {
    fn name(&self) -> &'static str;
    fn title(&self) -> &'static str;
    fn description(&self) -> &'static str;
    /// What somebody asks whom this tool helps.
    fn example(&self) -> &'static str;
    /// The properties that it takes, and which of them it needs.
    fn input(&self) -> Input;
    fn output(&self) -> Value;
    fn call(&self, library: &Library, arguments: &Arguments<'_>) -> Result<Value, ToolFault>;
}

pub(crate) struct Input {
    pub(crate) properties: Value,
    pub(crate) required: &'static [&'static str],
}

/// What went wrong, in words that say what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolFault(pub(crate) String);

pub(crate) struct Arguments<'a>(&'a Map<String, Value>);

pub(crate) const TOOLS: [&dyn Tool; 9] = [
    &product_list::ListShopProducts,
    &product::GetProduct,
    &support_search::SearchSupportFaq,
    &support_answer::GetSupportAnswer,
    &page_list::ListPublicPages,
    &page_text::ReadPublicPageMarkdown,
    &page_search::SearchPublicPages,
    &postcard_service::GetPostcardServiceInfo,
    &discovery_documents::ListDiscoveryDocuments,
];

pub(super) fn definitions() -> Value {
    TOOLS.iter().map(|tool| definition(*tool)).collect()
}

fn definition(tool: &dyn Tool) -> Value {
    let Input { properties, required } = tool.input();
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

/// An unknown tool is a fault of the caller's program; a wrong argument is one
/// that a model can mend, so it is told as a result.
pub(super) fn call(
    library: &Library,
    id: &Value,
    params: &Map<String, Value>,
) -> Result<Value, Fault> {
    let invalid = |words: &str| Fault::new(id, INVALID_PARAMS, words);
    let name = params.get("name").and_then(Value::as_str);
    let name = name.ok_or_else(|| invalid("name: is missing; tools/list has them."))?;
    let tool = TOOLS.iter().find(|tool| tool.name() == name);
    let tool = tool.ok_or_else(|| invalid("Unknown tool; tools/list has them."))?;
    let none = Map::new();
    let arguments = match params.get("arguments") {
        None => &none,
        Some(Value::Object(arguments)) => arguments,
        Some(_) => return Err(invalid("arguments: must be an object.")),
    };
    let outcome =
        Arguments::check(*tool, arguments).and_then(|arguments| tool.call(library, &arguments));
    Ok(match outcome {
        Ok(result) => json!({
            "content": [{ "type": "text", "text": result.to_string() }],
            "structuredContent": result,
            "isError": false,
        }),
        Err(ToolFault(words)) => json!({
            "content": [{ "type": "text", "text": words }],
            "isError": true,
        }),
    })
}

impl<'a> Arguments<'a> {
    /// Names every argument that is missing or that the tool does not know.
    fn check(tool: &dyn Tool, given: &'a Map<String, Value>) -> Result<Self, ToolFault> {
        let Input { properties, required } = tool.input();
        let known = |name: &String| properties.get(name).is_some();
        let unknown: Vec<String> = given
            .keys()
            .filter(|name| !known(name))
            .map(|name| format!("{name}: is not an argument of {}.", tool.name()))
            .collect();
        let missing = required
            .iter()
            .filter(|name| !given.contains_key(**name))
            .map(|name| format!("{name}: is required."));
        let faults: Vec<String> = missing.chain(unknown).collect();
        if faults.is_empty() { Ok(Self(given)) } else { Err(ToolFault(faults.join(" "))) }
    }

    /// A text of at least one and at most so many characters.
    pub(crate) fn text(&self, name: &str, most: usize) -> Result<&'a str, ToolFault> {
        let text = self.0.get(name).and_then(Value::as_str);
        text.filter(|text| !text.trim().is_empty() && text.chars().count() <= most)
            .ok_or_else(|| ToolFault(format!("{name}: must be a text of 1 to {most} characters.")))
    }

    pub(crate) fn optional(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }
}

/// A property that is a text of limited length.
pub(crate) fn text(most: usize, says: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": most, "description": says })
}

/// An object whose members are all of simple types, and all required.
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

#[cfg(test)]
mod tests;
