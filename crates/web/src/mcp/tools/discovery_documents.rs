//! `list_discovery_documents`: the machine-readable documents.

use serde_json::{Value, json};

use super::tool::{Tool, ToolContent, ToolInput, list, object, string};
use crate::mcp::public_content::PublicContent;
use crate::surface::{EndpointTag, HttpMethod, SURFACE};

pub(crate) struct ListDiscoveryDocuments;

impl Tool for ListDiscoveryDocuments {
    fn name(&self) -> &'static str {
        "list_discovery_documents"
    }

    fn title(&self) -> &'static str {
        "List discovery documents"
    }

    fn description(&self) -> &'static str {
        "List the machine-readable documents of this site (API contract, catalogs, cards, feeds, \
         text guides) with path and media type."
    }

    fn example(&self) -> &'static str {
        "Where is the API described for machines?"
    }

    fn input(&self) -> ToolInput {
        ToolInput { properties: json!({}), required: &[] }
    }

    fn output(&self) -> Value {
        let document = object(&[("path", string()), ("title", string()), ("media_type", string())]);
        object(&[("documents", list(&document))])
    }

    fn prepare(&self, _: &PublicContent) -> ToolContent {
        let documents: Vec<Value> = SURFACE
            .iter()
            .filter(|endpoint| endpoint.method == HttpMethod::Get && endpoint.tag != EndpointTag::Postcards)
            .map(|endpoint| {
                let media_type = endpoint.format.media_type();
                json!({ "path": endpoint.path, "title": endpoint.summary, "media_type": media_type })
            })
            .collect();
        ToolContent::Fixed(json!({ "documents": documents }))
    }
}
