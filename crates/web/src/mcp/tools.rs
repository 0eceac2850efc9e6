//! Nine public questions, a file each; none can reach an order, a payment or the network.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::answer::Said;
use super::given::{Given, Members};
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
    /// What it will say, read from the library once.
    fn learn(&self, library: &Library) -> Knowledge;
}

/// What a tool knows.
pub(crate) enum Knowledge {
    /// The same answer for everybody.
    One(Value),
    /// An answer for each value of one argument.
    Each(Key, Vec<(String, Value)>),
    /// Whatever fits, looked for anew each time.
    Search(Box<dyn Search>),
}

/// The one argument that chooses an answer.
pub(crate) struct Key {
    pub(crate) argument: &'static str,
    pub(crate) characters_max: usize,
    /// What is said when nothing has this key, and what to do next.
    pub(crate) otherwise: &'static str,
}

pub(crate) trait Search: Send + Sync {
    /// The JSON text of the answer.
    fn find(&self, arguments: &Arguments<'_>) -> Result<String, ToolFault>;
}

pub(crate) struct Input {
    pub(crate) properties: Value,
    pub(crate) required: &'static [&'static str],
}

/// What went wrong, in words that say what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolFault(pub(crate) String);

pub(crate) struct Arguments<'a>(&'a Members<'a>);

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

/// The tools with all that they know.
pub(super) struct Toolbox(Vec<Ready>);

struct Ready {
    name: &'static str,
    arguments: Vec<String>,
    required: &'static [&'static str],
    knows: Knows,
}

/// Knowledge, with its answers as they go out.
enum Knows {
    One(Said),
    Each { by: Key, answers: HashMap<String, Said> },
    Search(Box<dyn Search>),
}

impl Toolbox {
    pub(super) fn new(library: &Library) -> Self {
        Self(TOOLS.iter().map(|tool| Ready::new(*tool, library)).collect())
    }

    /// Adds a tool that breaks whoever uses it.
    #[cfg(test)]
    pub(super) fn break_down(&mut self) {
        struct Broken;
        impl Search for Broken {
            fn find(&self, _: &Arguments<'_>) -> Result<String, ToolFault> {
                panic!("as the test wants it")
            }
        }
        let knows = Knows::Search(Box::new(Broken));
        self.0.push(Ready { name: "broken", arguments: Vec::new(), required: &[], knows });
    }

    /// An unknown tool is a fault of the caller's program; a wrong argument is one
    /// that a model can mend, so it is told as a result.
    pub(super) fn call(&self, params: &Members<'_>) -> Result<Cow<'_, Said>, Fault> {
        let invalid = |words: &'static str| Fault::new(INVALID_PARAMS, words);
        let name = params.text("name");
        let name = name.ok_or_else(|| invalid("name: is missing; tools/list has them."))?;
        let tool = self.0.iter().find(|tool| tool.name == name);
        let tool = tool.ok_or_else(|| invalid("Unknown tool; tools/list has them."))?;
        let none = Members::default();
        let arguments = match params.get("arguments") {
            None => &none,
            Some(given) => {
                given.object().ok_or_else(|| invalid("arguments: must be an object."))?
            }
        };
        let answer = tool.check(arguments).and_then(|()| tool.answer(&Arguments(arguments)));
        Ok(answer.unwrap_or_else(|ToolFault(words)| Cow::Owned(Said::failed(&words))))
    }
}

impl Ready {
    fn new(tool: &dyn Tool, library: &Library) -> Self {
        let Input { properties, required } = tool.input();
        let said = |answer: &Value| Said::found(&answer.to_string());
        Self {
            name: tool.name(),
            arguments: properties.as_object().into_iter().flat_map(Map::keys).cloned().collect(),
            required,
            knows: match tool.learn(library) {
                Knowledge::One(answer) => Knows::One(said(&answer)),
                Knowledge::Each(by, answers) => {
                    let answers = answers.into_iter().map(|(key, answer)| (key, said(&answer)));
                    Knows::Each { by, answers: answers.collect() }
                }
                Knowledge::Search(search) => Knows::Search(search),
            },
        }
    }

    /// Names every argument that is missing or that the tool does not know.
    fn check(&self, given: &Members<'_>) -> Result<(), ToolFault> {
        let known = |name: &&str| self.arguments.iter().any(|known| known == name);
        let unknown = given.names().filter(|name| !known(name));
        let unknown = unknown.map(|name| format!("{name}: is not an argument of {}.", self.name));
        let missing = self.required.iter().filter(|name| given.get(name).is_none());
        let missing = missing.map(|name| format!("{name}: is required."));
        ToolFault::all(missing.chain(unknown))
    }

    fn answer(&self, arguments: &Arguments<'_>) -> Result<Cow<'_, Said>, ToolFault> {
        match &self.knows {
            Knows::One(said) => Ok(Cow::Borrowed(said)),
            Knows::Each { by, answers } => {
                let key = arguments.text(by.argument, by.characters_max)?;
                let found = answers.get(key).map(Cow::Borrowed);
                found.ok_or_else(|| ToolFault(by.otherwise.to_owned()))
            }
            Knows::Search(search) => {
                search.find(arguments).map(|found| Cow::Owned(Said::found(&found)))
            }
        }
    }
}

impl ToolFault {
    /// All that is wrong at once, or nothing.
    fn all(faults: impl Iterator<Item = String>) -> Result<(), Self> {
        let words: Vec<String> = faults.collect();
        if words.is_empty() { Ok(()) } else { Err(Self(words.join(" "))) }
    }
}

impl<'a> Arguments<'a> {
    /// A text of at least one and at most so many characters.
    pub(crate) fn text(&self, name: &str, most: usize) -> Result<&'a str, ToolFault> {
        let text = self.0.text(name);
        text.filter(|text| !text.trim().is_empty() && text.chars().count() <= most)
            .ok_or_else(|| ToolFault(format!("{name}: must be a text of 1 to {most} characters.")))
    }

    pub(super) fn optional(&self, name: &str) -> Option<&'a Given<'a>> {
        self.0.get(name).filter(|given| **given != Given::Null)
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
