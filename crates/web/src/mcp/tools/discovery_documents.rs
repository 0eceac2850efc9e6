//! `list_discovery_documents`: what machines can read here.

use serde_json::{Value, json};

use super::{Input, Knowledge, Tool, list, object, string};
use crate::mcp::library::Library;
use crate::surface::{SURFACE, Tag, Verb};

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

    fn input(&self) -> Input {
        Input { properties: json!({}), required: &[] }
    }

    fn output(&self) -> Value {
        let document = object(&[("path", string()), ("title", string()), ("media_type", string())]);
        object(&[("documents", list(&document))])
    }

    fn learn(&self, _: &Library) -> Knowledge {
        let documents: Vec<Value> = SURFACE
            .iter()
            .filter(|endpoint| endpoint.verb == Verb::Get && endpoint.tag != Tag::Postcards)
            .map(|endpoint| {
                let media_type = endpoint.answer.media_type();
                json!({ "path": endpoint.path, "title": endpoint.says, "media_type": media_type })
            })
            .collect();
        Knowledge::One(json!({ "documents": documents }))
    }
}
