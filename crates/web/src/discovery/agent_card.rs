//! `/.well-known/agent-card.json`: who we are and what agents can ask of us (A2A 1.0 and 0.3).

use content::agents::Skill;
use serde_json::{Value, json};

use super::places;
use crate::mcp::tools::{TOOLS, Tool};
use crate::premises::{Premises, VERSION};

/// We speak MCP and no A2A binding, and A2A names other bindings by URI.
const BINDING: &str = "https://modelcontextprotocol.io/specification/2025-11-25/basic/transports\
                       #streamable-http";

pub fn document(premises: &Premises) -> Value {
    let site = &premises.catalog.site;
    let address = premises.url(places::MCP.path);
    let skills = premises.skills().map(learned);
    let skills = skills.chain(TOOLS.iter().map(called));
    json!({
        "name": site.name,
        "description": site.summary,
        "version": VERSION,
        "supportedInterfaces": [{
            "url": address,
            "protocolBinding": BINDING,
            "protocolVersion": "1.0",
        }],
        // What readers of 0.3 look for; readers of 1.0 ignore it.
        "url": address,
        "protocolVersion": "0.3.0",
        "preferredTransport": BINDING,
        "provider": {"organization": site.legal_name, "url": premises.base_url},
        "documentationUrl": places::page(premises, places::DOCS),
        "iconUrl": premises.url(places::ICON_PATH),
        "capabilities": {
            "streaming": false,
            "pushNotifications": false,
            "extendedAgentCard": false,
        },
        "defaultInputModes": ["application/json"],
        "defaultOutputModes": ["application/json", "text/markdown"],
        "skills": skills.collect::<Vec<_>>(),
    })
}

/// A skill that an agent reads and then follows by itself.
fn learned(skill: &Skill) -> Value {
    let tags = skill.name.split('-').filter(|word| word.len() > 3);
    let tags: Vec<&str> = std::iter::once("agent-skill").chain(tags).collect();
    json!({
        "id": skill.name,
        "name": title(skill),
        "description": skill.description,
        "tags": tags,
        "examples": [format!("How do I {}?", words(skill))],
    })
}

/// A tool that an agent calls.
fn called(tool: &&dyn Tool) -> Value {
    let tags = tool.name().split('_').filter(|word| word.len() > 3);
    let tags: Vec<&str> = std::iter::once("mcp-tool").chain(tags).collect();
    json!({
        "id": tool.name(),
        "name": tool.title(),
        "description": tool.description(),
        "tags": tags,
        "examples": [tool.example()],
    })
}

/// The name of a skill in words: `send-a-postcard` is "send a postcard".
pub(super) fn words(skill: &Skill) -> String {
    skill.name.replace('-', " ")
}

pub(super) fn title(skill: &Skill) -> String {
    let words = words(skill);
    let mut letters = words.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::samples;

    #[test]
    fn the_card_has_what_both_versions_require() {
        let card = document(&samples::premises());
        let required = [
            "name",
            "description",
            "version",
            "supportedInterfaces",
            "capabilities",
            "defaultInputModes",
            "defaultOutputModes",
            "skills",
            "url",
            "protocolVersion",
        ];
        samples::has_members(&card, &required);
        samples::has_no_relative_address(&card);
        let interface = &card["supportedInterfaces"][0];
        samples::has_members(interface, &["url", "protocolBinding", "protocolVersion"]);
        assert_eq!(interface["url"], card["url"]);
    }

    #[test]
    fn every_skill_of_the_catalog_and_every_named_tool_is_on_the_card_once() {
        let premises = samples::premises();
        let card = document(&premises);
        let mut ids = Vec::new();
        for skill in samples::list(&card["skills"]) {
            samples::has_members(skill, &["id", "name", "description", "tags", "examples"]);
            ids.push(skill["id"].as_str().unwrap().to_owned());
        }
        let skills = premises.catalog.agents.skills.iter().map(|skill| skill.name.clone());
        let expected: Vec<String> =
            skills.chain(TOOLS.iter().map(|tool| tool.name().to_owned())).collect();
        assert_eq!(ids, expected);
        assert_eq!(card["skills"][1]["name"], "Send a postcard");
    }
}
