//! `/.well-known/mcp/server-card.json` and `/server.json`: the MCP server for clients and registries.

use serde_json::{Value, json};

use crate::discovery::links;
use crate::site_facts::{McpProfile, SiteFacts, VERSION};

const CARD_SCHEMA: &str =
    "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";
const REGISTRY_SCHEMA: &str =
    "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/// Registries reject more than 100 characters, so it is not the description of the site.
pub const DESCRIPTION: &str =
    "Public read-only tools: shop products, support answers and public pages. No payment tools.";
const TITLE_CHARACTERS_MAX: usize = 100;

/// The supported protocol versions, newest first.
pub const PROTOCOL_VERSIONS: [&str; 5] =
    ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

const STREAMABLE_HTTP: &str = "streamable-http";

/// The current card, with the members of its predecessor.
pub fn document(facts: &SiteFacts) -> Value {
    let (name, title) = (name(facts), title(facts));
    let address = facts.url(links::MCP.path);
    json!({
        "$schema": CARD_SCHEMA,
        "name": name,
        "version": VERSION,
        "title": title,
        "description": DESCRIPTION,
        "websiteUrl": links::page(facts, links::DEVELOPERS),
        "icons": icons(facts),
        "remotes": [{
            "type": STREAMABLE_HTTP,
            "url": address,
            "supportedProtocolVersions": PROTOCOL_VERSIONS,
        }],
        "serverInfo": {"name": name, "title": title, "version": VERSION},
        "endpoint": address,
        "transport": {"type": STREAMABLE_HTTP, "endpoint": address},
        "capabilities": capabilities(facts.profile),
        "authentication": {"required": false},
    })
}

pub fn server_json(facts: &SiteFacts) -> Value {
    let mut document = json!({
        "$schema": REGISTRY_SCHEMA,
        "name": name(facts),
        "title": title(facts),
        "description": DESCRIPTION,
        "version": VERSION,
        "websiteUrl": links::page(facts, links::DEVELOPERS),
        "remotes": [{"type": STREAMABLE_HTTP, "url": facts.url(links::MCP.path)}],
    });
    // Registries accept icons over https only.
    if facts.base_url.starts_with("https://") {
        document["icons"] = icons(facts);
    }
    document
}

/// The capabilities. None promises messages that a server without streams cannot send.
pub fn capabilities(profile: McpProfile) -> Value {
    match profile {
        McpProfile::Node => json!({"tools": {}, "resources": {}, "completions": {}}),
        McpProfile::Worker => json!({"tools": {}, "resources": {}}),
    }
}

/// The reversed domain name, as registries require: `org.example.shop/discovery`.
pub fn name(facts: &SiteFacts) -> String {
    let domain = links::domain(facts);
    let labels: Vec<&str> = domain.rsplit('.').filter(|label| !label.is_empty()).collect();
    format!("{}/discovery", labels.join("."))
}

fn title(facts: &SiteFacts) -> String {
    facts.catalog.site.name.chars().take(TITLE_CHARACTERS_MAX).collect()
}

fn icons(facts: &SiteFacts) -> Value {
    json!([
        { "src": facts.url(links::ICON_PATH), "mimeType": "image/svg+xml", "sizes": ["any"] },
        { "src": facts.url(links::PNG_ICON_PATH), "mimeType": "image/png", "sizes": ["192x192"] },
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::fixtures;

    #[test]
    fn the_name_is_the_reversed_domain() {
        let mut facts = fixtures::site_facts();
        assert_eq!(name(&facts), "org.example.shop/discovery");
        for base_url in ["http://localhost:8402", "http://127.0.0.1:8402", "http://[::1]:8402"] {
            facts.base_url = base_url.to_owned();
            assert_eq!(name(&facts), "localhost/discovery", "{base_url}");
        }
    }

    #[test]
    fn card_and_registry_entry_agree_and_stay_within_the_limits() {
        let facts = fixtures::site_facts();
        let (card, entry) = (document(&facts), server_json(&facts));
        for member in ["name", "version", "description", "title", "websiteUrl", "icons"] {
            assert_eq!(card[member], entry[member], "{member}");
        }
        assert_eq!(card["remotes"][0]["url"], entry["remotes"][0]["url"]);
        assert!((1..=100).contains(&DESCRIPTION.chars().count()));
        for document in [&card, &entry] {
            fixtures::has_members(document, &["$schema", "name", "version", "description"]);
            fixtures::has_no_relative_address(document);
        }
    }

    #[test]
    fn the_card_has_the_members_of_its_predecessor_and_no_list_of_tools() {
        let card = document(&fixtures::site_facts());
        assert_eq!(card["serverInfo"]["name"], card["name"]);
        assert_eq!(card["endpoint"], card["remotes"][0]["url"]);
        assert!(card["capabilities"]["tools"].is_object());
        assert!(card.get("tools").is_none());
    }

    #[test]
    fn the_registry_entry_has_no_icon_without_https() {
        let mut facts = fixtures::site_facts();
        facts.base_url = "http://localhost:8402".to_owned();
        assert!(server_json(&facts).get("icons").is_none());
    }
}
