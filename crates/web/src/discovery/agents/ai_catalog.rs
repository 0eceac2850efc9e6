//! `/.well-known/ai-catalog.json`: the MCP server, the agent card and the skills.

use content::agents::Skill;
use serde_json::{Value, json};

use super::agent_card;
use crate::discovery::links;
use crate::site_facts::SiteFacts;

const AGENT_CARD_TYPE: &str = "application/a2a-agent-card+json";
const SKILL_TYPE: &str = "text/markdown; profile=\"urn:air:agent-skills\"";

pub fn document(facts: &SiteFacts) -> Value {
    let domain = links::domain(facts);
    let skills = facts.skills();
    let entries = [server(facts, &domain), agent(facts, &domain)].into_iter();
    let entries = entries.chain(skills.map(|one| skill(facts, &domain, one)));
    json!({
        "specVersion": "1.0",
        "host": {"displayName": facts.catalog.site.name, "identifier": domain},
        "entries": entries.collect::<Vec<_>>(),
    })
}

fn server(facts: &SiteFacts, domain: &str) -> Value {
    json!({
        "identifier": format!("urn:air:{domain}:mcp:discovery"),
        "displayName": format!("{} MCP server", facts.catalog.site.name),
        "type": links::MCP_CARD_AT_SERVER.format.essence(),
        "url": facts.url(links::MCP_CARD_AT_SERVER.path),
        "representativeQueries": [
            "Which Bitcoin hardware is in stock, and at what price?",
            "Find the support answer about postcards that did not arrive.",
            "Read a public page of this site as Markdown.",
        ],
    })
}

fn agent(facts: &SiteFacts, domain: &str) -> Value {
    json!({
        "identifier": format!("urn:air:{domain}:agent:discovery"),
        "displayName": facts.catalog.site.name,
        "type": AGENT_CARD_TYPE,
        "url": facts.url(links::AGENT_CARD.path),
        "representativeQueries": [
            "What can an agent do on this site without an account?",
            "How can software pay for a physical postcard?",
        ],
    })
}

fn skill(facts: &SiteFacts, domain: &str, skill: &Skill) -> Value {
    let title = agent_card::title(skill);
    json!({
        "identifier": format!("urn:air:{domain}:skill:{}", skill.name),
        "displayName": title,
        "description": skill.description,
        "type": SKILL_TYPE,
        "url": facts.url(&skill.path()),
        "representativeQueries": [
            format!("How do I {}?", agent_card::skill_text(skill)),
            format!("{title} for me."),
        ],
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::discovery::fixtures;

    #[test]
    fn every_entry_has_a_unique_identifier_a_type_one_url_and_some_queries() {
        let facts = fixtures::site_facts();
        let catalog = document(&facts);
        fixtures::has_members(&catalog, &["specVersion", "host", "entries"]);
        fixtures::has_no_relative_address(&catalog);
        let entries = fixtures::list(&catalog["entries"]);
        let mut names = BTreeSet::new();
        for entry in entries {
            fixtures::has_members(entry, &["identifier", "displayName", "type", "url"]);
            assert!(entry.get("data").is_none());
            assert!((2..=5).contains(&fixtures::list(&entry["representativeQueries"]).len()));
            let name = entry["identifier"].as_str().unwrap();
            assert!(name.starts_with("urn:air:shop.example.org:"), "{name}");
            names.insert(name);
        }
        assert_eq!(entries[0]["type"], "application/mcp-server-card+json");
        assert_eq!(entries[0]["url"], "https://shop.example.org/mcp/server-card");
        assert_eq!(names.len(), 2 + facts.catalog.agents.skills.len());
    }
}
