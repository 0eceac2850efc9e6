//! `/.well-known/mcp/server-card.json` and `/server.json`: the MCP server for clients and registries.

use serde_json::{Value, json};

use super::places;
use crate::premises::{Premises, Profile, VERSION};

const CARD_SCHEMA: &str =
    "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";
const REGISTRY_SCHEMA: &str =
    "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/// Registries refuse more than 100 characters, so it is not the site's own.
pub const DESCRIPTION: &str =
    "Public read-only tools: shop products, support answers and public pages. No payment tools.";
const TITLE_CHARACTERS_MAX: usize = 100;

/// The revisions that the MCP door speaks, newest first.
pub const PROTOCOL_VERSIONS: [&str; 5] =
    ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

const STREAMABLE_HTTP: &str = "streamable-http";

/// The card of today, with the members that readers of its predecessor look for.
pub fn document(premises: &Premises) -> Value {
    let (name, title) = (name(premises), title(premises));
    let address = premises.url(places::MCP.path);
    json!({
        "$schema": CARD_SCHEMA,
        "name": name,
        "version": VERSION,
        "title": title,
        "description": DESCRIPTION,
        "websiteUrl": places::page(premises, places::DEVELOPERS),
        "icons": [icon(premises)],
        "remotes": [{
            "type": STREAMABLE_HTTP,
            "url": address,
            "supportedProtocolVersions": PROTOCOL_VERSIONS,
        }],
        "serverInfo": {"name": name, "title": title, "version": VERSION},
        "endpoint": address,
        "transport": {"type": STREAMABLE_HTTP, "endpoint": address},
        "capabilities": capabilities(premises.profile),
        "authentication": {"required": false},
    })
}

pub fn server_json(premises: &Premises) -> Value {
    let mut document = json!({
        "$schema": REGISTRY_SCHEMA,
        "name": name(premises),
        "title": title(premises),
        "description": DESCRIPTION,
        "version": VERSION,
        "websiteUrl": places::page(premises, places::DEVELOPERS),
        "remotes": [{"type": STREAMABLE_HTTP, "url": premises.url(places::MCP.path)}],
    });
    // Registries take pictures over https only.
    if premises.base_url.starts_with("https://") {
        document["icons"] = json!([icon(premises)]);
    }
    document
}

/// What the server can do. No member promises messages that a server without
/// streams could never send.
pub fn capabilities(profile: Profile) -> Value {
    match profile {
        Profile::Node => json!({"tools": {}, "resources": {}, "completions": {}}),
        Profile::Worker => json!({"tools": {}, "resources": {}}),
    }
}

/// The domain read backwards, as registries want it: `org.example.shop/discovery`.
pub fn name(premises: &Premises) -> String {
    let domain = places::domain(premises);
    let labels: Vec<&str> = domain.rsplit('.').filter(|label| !label.is_empty()).collect();
    format!("{}/discovery", labels.join("."))
}

fn title(premises: &Premises) -> String {
    premises.catalog.site.name.chars().take(TITLE_CHARACTERS_MAX).collect()
}

fn icon(premises: &Premises) -> Value {
    json!({
        "src": premises.url(places::ICON_PATH),
        "mimeType": "image/svg+xml",
        "sizes": ["any"],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::samples;

    #[test]
    fn the_name_is_the_domain_read_backwards() {
        let mut premises = samples::premises();
        assert_eq!(name(&premises), "org.example.shop/discovery");
        for base_url in ["http://localhost:8402", "http://127.0.0.1:8402", "http://[::1]:8402"] {
            premises.base_url = base_url.to_owned();
            assert_eq!(name(&premises), "localhost/discovery", "{base_url}");
        }
    }

    #[test]
    fn card_and_registry_entry_agree_and_keep_to_the_limits() {
        let premises = samples::premises();
        let (card, entry) = (document(&premises), server_json(&premises));
        for member in ["name", "version", "description", "title", "websiteUrl", "icons"] {
            assert_eq!(card[member], entry[member], "{member}");
        }
        assert_eq!(card["remotes"][0]["url"], entry["remotes"][0]["url"]);
        assert!((1..=100).contains(&DESCRIPTION.chars().count()));
        for document in [&card, &entry] {
            samples::has_members(document, &["$schema", "name", "version", "description"]);
            samples::has_no_relative_address(document);
        }
    }

    #[test]
    fn readers_of_the_older_card_find_their_members_and_nobody_finds_a_list_of_tools() {
        let card = document(&samples::premises());
        assert_eq!(card["serverInfo"]["name"], card["name"]);
        assert_eq!(card["endpoint"], card["remotes"][0]["url"]);
        assert!(card["capabilities"]["tools"].is_object());
        assert!(card.get("tools").is_none());
    }

    #[test]
    fn a_registry_is_offered_no_picture_without_https() {
        let mut premises = samples::premises();
        premises.base_url = "http://localhost:8402".to_owned();
        assert!(server_json(&premises).get("icons").is_none());
    }
}
