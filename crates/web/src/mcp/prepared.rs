//! Results that are serialized at start.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::completion::Completion;
use super::protocol_version::{MODERN, NEWEST_LEGACY};
use super::public_content::PublicContent;
use super::resources;
use super::result_body::{CacheScope, ResultBody, ResultEndings};
use super::tool_set::{self, ToolSet};
use crate::discovery::agents::mcp_card::{self, PROTOCOL_VERSIONS};
use crate::site_facts::{McpProfile, SiteFacts, VERSION};

pub(super) struct PreparedResults {
    /// Results of `initialize`, for each version with a handshake, newest first.
    initialize_results: Vec<(&'static str, ResultBody)>,
    pub(super) ping_result: ResultBody,
    pub(super) discovery: ResultBody,
    pub(super) tool_list: ResultBody,
    pub(super) tools: ToolSet,
    pub(super) resource_list: ResultBody,
    /// By URI.
    pub(super) resources: HashMap<String, ResultBody>,
    /// Not in the worker profile.
    pub(super) node_features: Option<NodeFeatures>,
    pub(super) endings: ResultEndings,
}

pub(super) struct NodeFeatures {
    pub(super) template_list: ResultBody,
    pub(super) completion: Completion,
}

impl PreparedResults {
    pub(super) fn new(content: &PublicContent) -> Self {
        let server = server(&content.facts);
        let cached = |result: Value| ResultBody::new(&result, CacheScope::Public);
        let legacy = PROTOCOL_VERSIONS.into_iter().filter(|version| *version != MODERN);
        Self {
            initialize_results: legacy
                .map(|version| (version, initialize_result(content, version)))
                .collect(),
            ping_result: ResultBody::new(&json!({}), CacheScope::NotCached),
            discovery: cached(json!({
                "supportedVersions": PROTOCOL_VERSIONS,
                "capabilities": mcp_card::capabilities(content.facts.profile),
                "instructions": instructions(content),
            })),
            tool_list: cached(json!({ "tools": tool_set::definitions() })),
            tools: ToolSet::new(content),
            resource_list: cached(json!({ "resources": resources::list(content) })),
            resources: resources::texts(content).into_iter().map(resource).collect(),
            node_features: match content.facts.profile {
                McpProfile::Worker => None,
                McpProfile::Node => Some(NodeFeatures {
                    template_list: cached(json!({ "resourceTemplates": resources::templates() })),
                    completion: Completion::new(content),
                }),
            },
            endings: ResultEndings::new(&server),
        }
    }

    /// In the requested version, or else in the newest that has a handshake.
    pub(super) fn initialize_result(&self, version: &str) -> &ResultBody {
        let find =
            |wanted: &str| self.initialize_results.iter().find(|(known, _)| *known == wanted);
        let found = find(version).or_else(|| find(NEWEST_LEGACY));
        found.map_or(&self.ping_result, |(_, result)| result)
    }
}

fn resource((uri, media_type, text): (String, &'static str, String)) -> (String, ResultBody) {
    let contents = json!([{ "uri": uri, "mimeType": media_type, "text": text }]);
    let result = ResultBody::new(&json!({ "contents": contents }), CacheScope::Public);
    (uri, result)
}

fn initialize_result(content: &PublicContent, version: &str) -> ResultBody {
    let result = json!({
        "protocolVersion": version,
        "capabilities": mcp_card::capabilities(content.facts.profile),
        "serverInfo": server(&content.facts),
        "instructions": instructions(content),
    });
    ResultBody::new(&result, CacheScope::NotCached)
}

fn server(facts: &SiteFacts) -> Value {
    json!({
        "name": mcp_card::name(facts),
        "title": facts.catalog.site.name,
        "version": VERSION,
    })
}

fn instructions(content: &PublicContent) -> String {
    format!(
        "Public, read-only questions about {}: its shop, support answers, pages and machine-readable \
         documents. No tool pays, orders or reads accounts; get_postcard_service_info explains how to buy a \
         postcard.",
        content.catalog().site.name
    )
}
