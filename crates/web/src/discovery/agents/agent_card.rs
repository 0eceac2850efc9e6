//! `/.well-known/agent-card.json`: identity and skills (A2A 1.0 and 0.3).

use content::agents::Skill;
use serde_json::{Value, json};

use crate::discovery::links;
use crate::mcp::tools::TOOLS;
use crate::mcp::tools::tool::Tool;
use crate::site_facts::{SiteFacts, VERSION};

/// A2A names bindings other than its own by URI; this one is MCP.
const BINDING: &str = "https://modelcontextprotocol.io/specification/2025-11-25/basic/transports\
                       #streamable-http";

pub fn document(facts: &SiteFacts) -> Value {
    let site = &facts.catalog.site;
    let address = facts.url(links::MCP.path);
    let skills = facts.skills().map(skill_entry);
    let skills = skills.chain(TOOLS.iter().map(tool_entry));
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
        "provider": {"organization": site.legal_name, "url": facts.base_url},
        "documentationUrl": links::page(facts, links::DOCS),
        "iconUrl": facts.url(links::ICON_PATH),
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

/// A skill that an agent reads and follows.
fn skill_entry(skill: &Skill) -> Value {
    let tags = skill.name.split('-').filter(|word| word.len() > 3);
    let tags: Vec<&str> = std::iter::once("agent-skill").chain(tags).collect();
    json!({
        "id": skill.name,
        "name": title(skill),
        "description": skill.description,
        "tags": tags,
        "examples": [format!("How do I {}?", skill_text(skill))],
    })
}

/// A tool that an agent calls.
fn tool_entry(tool: &&dyn Tool) -> Value {
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

/// The name of a skill as text: `send-a-postcard` becomes "send a postcard".
pub(super) fn skill_text(skill: &Skill) -> String {
    skill.name.replace('-', " ")
}

pub(super) fn title(skill: &Skill) -> String {
    let text = skill_text(skill);
    let mut characters = text.chars();
    let first = characters.next().map(|character| character.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::fixtures;

    #[test]
    fn the_card_has_what_both_versions_require() {
        let card = document(&fixtures::site_facts());
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
        fixtures::has_members(&card, &required);
        fixtures::has_no_relative_address(&card);
        let interface = &card["supportedInterfaces"][0];
        fixtures::has_members(interface, &["url", "protocolBinding", "protocolVersion"]);
        assert_eq!(interface["url"], card["url"]);
    }

    #[test]
    fn every_skill_of_the_catalog_and_every_named_tool_is_on_the_card_once() {
        let facts = fixtures::site_facts();
        let card = document(&facts);
        let mut ids = Vec::new();
        for skill in fixtures::list(&card["skills"]) {
            fixtures::has_members(skill, &["id", "name", "description", "tags", "examples"]);
            ids.push(skill["id"].as_str().unwrap().to_owned());
        }
        let skills = facts.catalog.agents.skills.iter().map(|skill| skill.name.clone());
        let expected: Vec<String> =
            skills.chain(TOOLS.iter().map(|tool| tool.name().to_owned())).collect();
        assert_eq!(ids, expected);
        assert_eq!(card["skills"][1]["name"], "Send a postcard");
    }
}
