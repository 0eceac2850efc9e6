//! `/.well-known/ai-catalog.json`: everything that agents can use here, as one catalog.

use content::agents::Skill;
use serde_json::{Value, json};

use super::{agent_card, places};
use crate::premises::Premises;

const AGENT_CARD_TYPE: &str = "application/a2a-agent-card+json";
const SKILL_TYPE: &str = "text/markdown; profile=\"urn:air:agent-skills\"";

pub fn document(premises: &Premises) -> Value {
    let domain = places::domain(premises);
    let skills = premises.skills();
    let entries = [server(premises, &domain), agent(premises, &domain)].into_iter();
    let entries = entries.chain(skills.map(|one| skill(premises, &domain, one)));
    json!({
        "specVersion": "1.0",
        "host": {"displayName": premises.catalog.site.name, "identifier": domain},
        "entries": entries.collect::<Vec<_>>(),
    })
}

fn server(premises: &Premises, domain: &str) -> Value {
    json!({
        "identifier": format!("urn:air:{domain}:mcp:discovery"),
        "displayName": format!("{} MCP server", premises.catalog.site.name),
        "type": places::essence(places::MCP_CARD_BESIDE.answer),
        "url": premises.url(places::MCP_CARD_BESIDE.path),
        "representativeQueries": [
            "Which Bitcoin hardware is in stock, and at what price?",
            "Find the support answer about postcards that did not arrive.",
            "Read a public page of this site as Markdown.",
        ],
    })
}

fn agent(premises: &Premises, domain: &str) -> Value {
    json!({
        "identifier": format!("urn:air:{domain}:agent:discovery"),
        "displayName": premises.catalog.site.name,
        "type": AGENT_CARD_TYPE,
        "url": premises.url(places::AGENT_CARD.path),
        "representativeQueries": [
            "What can an agent do on this site without an account?",
            "How can software pay for a physical postcard?",
        ],
    })
}

fn skill(premises: &Premises, domain: &str, skill: &Skill) -> Value {
    let title = agent_card::title(skill);
    json!({
        "identifier": format!("urn:air:{domain}:skill:{}", skill.name),
        "displayName": title,
        "description": skill.description,
        "type": SKILL_TYPE,
        "url": premises.url(&skill.path()),
        "representativeQueries": [
            format!("How do I {}?", agent_card::words(skill)),
            format!("{title} for me."),
        ],
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::discovery::samples;

    #[test]
    fn every_entry_has_a_name_of_its_own_a_type_one_address_and_some_queries() {
        let premises = samples::premises();
        let catalog = document(&premises);
        samples::has_members(&catalog, &["specVersion", "host", "entries"]);
        samples::has_no_relative_address(&catalog);
        let entries = samples::list(&catalog["entries"]);
        let mut names = BTreeSet::new();
        for entry in entries {
            samples::has_members(entry, &["identifier", "displayName", "type", "url"]);
            assert!(entry.get("data").is_none());
            assert!((2..=5).contains(&samples::list(&entry["representativeQueries"]).len()));
            let name = entry["identifier"].as_str().unwrap();
            assert!(name.starts_with("urn:air:shop.example.org:"), "{name}");
            names.insert(name);
        }
        assert_eq!(entries[0]["type"], "application/mcp-server-card+json");
        assert_eq!(entries[0]["url"], "https://shop.example.org/mcp/server-card");
        assert_eq!(names.len(), 2 + premises.catalog.agents.skills.len());
    }
}
