//! Everything that the server can say, written when the house opens.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::answer::{Endings, Kept, Said};
use super::completion::Completion;
use super::era::{MODERN, NEWEST_LEGACY};
use super::library::Library;
use super::resources;
use super::tools::{self, Toolbox};
use crate::discovery::mcp_card::{self, PROTOCOL_VERSIONS};
use crate::premises::{Premises, Profile, VERSION};

pub(super) struct Shelf {
    /// To a client that shakes hands, for each revision with a handshake, newest first.
    greetings: Vec<(&'static str, Said)>,
    pub(super) pong: Said,
    pub(super) discovery: Said,
    pub(super) tool_list: Said,
    pub(super) tools: Toolbox,
    pub(super) resource_list: Said,
    /// By their addresses.
    pub(super) resources: HashMap<String, Said>,
    /// What the worker runtime of the contract goes without.
    pub(super) more: Option<More>,
    pub(super) endings: Endings,
}

pub(super) struct More {
    pub(super) template_list: Said,
    pub(super) completion: Completion,
}

impl Shelf {
    pub(super) fn new(library: &Library) -> Self {
        let server = server(&library.premises);
        let kept = |result: Value| Said::new(&result, Kept::Yes);
        let legacy = PROTOCOL_VERSIONS.into_iter().filter(|version| *version != MODERN);
        Self {
            greetings: legacy.map(|version| (version, greeting(library, version))).collect(),
            pong: Said::new(&json!({}), Kept::No),
            discovery: kept(json!({
                "supportedVersions": PROTOCOL_VERSIONS,
                "capabilities": mcp_card::capabilities(library.premises.profile),
                "instructions": instructions(library),
            })),
            tool_list: kept(json!({ "tools": tools::definitions() })),
            tools: Toolbox::new(library),
            resource_list: kept(json!({ "resources": resources::list(library) })),
            resources: resources::texts(library).into_iter().map(resource).collect(),
            more: match library.premises.profile {
                Profile::Worker => None,
                Profile::Node => Some(More {
                    template_list: kept(json!({ "resourceTemplates": resources::templates() })),
                    completion: Completion::new(library),
                }),
            },
            endings: Endings::new(&server),
        }
    }

    /// In the revision that was asked for, or else in the newest that has a handshake.
    pub(super) fn greeting(&self, version: &str) -> &Said {
        let find = |wanted: &str| self.greetings.iter().find(|(known, _)| *known == wanted);
        let found = find(version).or_else(|| find(NEWEST_LEGACY));
        found.map_or(&self.pong, |(_, said)| said)
    }
}

fn resource((uri, media_type, text): (String, &'static str, String)) -> (String, Said) {
    let contents = json!([{ "uri": uri, "mimeType": media_type, "text": text }]);
    let said = Said::new(&json!({ "contents": contents }), Kept::Yes);
    (uri, said)
}

fn greeting(library: &Library, version: &str) -> Said {
    let result = json!({
        "protocolVersion": version,
        "capabilities": mcp_card::capabilities(library.premises.profile),
        "serverInfo": server(&library.premises),
        "instructions": instructions(library),
    });
    Said::new(&result, Kept::No)
}

fn server(premises: &Premises) -> Value {
    json!({
        "name": mcp_card::name(premises),
        "title": premises.catalog.site.name,
        "version": VERSION,
    })
}

fn instructions(library: &Library) -> String {
    format!(
        "Public, read-only questions about {}: its shop, support answers, pages and machine-readable \
         documents. Nothing here pays, orders or sees an account; get_postcard_service_info says \
         how a postcard is bought.",
        library.catalog().site.name
    )
}
