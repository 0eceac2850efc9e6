//! `/.well-known/api-catalog`: every API with its descriptions, as a linkset (RFC 9727, RFC 9264).

use serde_json::{Value, json};

use super::links;
use crate::site_facts::SiteFacts;
use crate::surface::{Endpoint, EndpointTag, ResponseFormat};

/// The documents; their subjects are elsewhere.
const WELL_KNOWN: &str = "/.well-known/";

pub fn document(facts: &SiteFacts) -> Value {
    let apis: Vec<&Endpoint> = facts.endpoints().filter(|endpoint| is_api(endpoint)).collect();
    let items = apis.iter().map(|api| json!({"href": facts.url(api.path), "title": api.summary}));
    let own = json!({
        "anchor": facts.url(links::API_CATALOG.path),
        "item": items.collect::<Vec<_>>(),
    });
    let contexts = std::iter::once(own).chain(apis.iter().map(|api| context(facts, api)));
    json!({"linkset": contexts.collect::<Vec<_>>()})
}

/// An API whose URL is complete without parameters.
fn is_api(endpoint: &Endpoint) -> bool {
    let kind = match endpoint.tag {
        EndpointTag::Postcards | EndpointTag::Shop | EndpointTag::Mcp | EndpointTag::Agents => {
            endpoint.format == ResponseFormat::Json
        }
        EndpointTag::Discover => endpoint.path.starts_with(links::QUOTE.path),
        EndpointTag::Pages => false,
    };
    kind && !endpoint.path.contains('{') && !endpoint.path.starts_with(WELL_KNOWN)
}

/// RFC 9264 requires an array for every relation, even for a single link.
fn context(facts: &SiteFacts, api: &Endpoint) -> Value {
    let link =
        |target: Endpoint| json!({"href": facts.url(target.path), "type": target.format.essence()});
    let descriptions = match api.tag {
        EndpointTag::Mcp => vec![link(links::MCP_CARD), link(links::OPENAPI)],
        EndpointTag::Postcards
        | EndpointTag::Shop
        | EndpointTag::Agents
        | EndpointTag::Discover
        | EndpointTag::Pages => {
            vec![link(links::OPENAPI)]
        }
    };
    let metadata = [links::AGENT_CARD, links::SERVER_JSON, links::AI_CATALOG];
    json!({
        "anchor": facts.url(api.path),
        "service-desc": descriptions,
        "service-doc": documentation(facts, api.tag),
        "service-meta": metadata.map(link),
        "status": [{
            "href": facts.url(links::HEALTH_PATH),
            "type": ResponseFormat::Json.essence(),
        }],
    })
}

fn documentation(facts: &SiteFacts, tag: EndpointTag) -> Vec<Value> {
    let both = |page: &str| {
        vec![
            json!({"href": links::page(facts, page), "type": ResponseFormat::Html.essence()}),
            json!({
                "href": links::page_markdown(facts, page),
                "type": ResponseFormat::Markdown.essence(),
            }),
        ]
    };
    match tag {
        EndpointTag::Postcards | EndpointTag::Discover => both(links::MARKETPLACE),
        EndpointTag::Shop => both(links::SHOP),
        EndpointTag::Mcp | EndpointTag::Pages => both(links::DEVELOPERS),
        EndpointTag::Agents => {
            let guide = links::AUTH_GUIDE;
            vec![json!({"href": facts.url(guide.path), "type": guide.format.essence()})]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::fixtures;
    use crate::surface::SURFACE;

    #[test]
    fn every_context_has_an_absolute_anchor_and_arrays_of_links() {
        let document = document(&fixtures::site_facts());
        for context in fixtures::list(&document["linkset"]) {
            for (relation, value) in context.as_object().unwrap() {
                if relation == "anchor" {
                    assert!(value.as_str().unwrap().starts_with("https://"), "{value}");
                    continue;
                }
                assert!(!fixtures::list(value).is_empty(), "{relation}");
                for link in fixtures::list(value) {
                    assert!(link["href"].as_str().unwrap().starts_with("https://"), "{link}");
                }
            }
        }
    }

    #[test]
    fn the_catalog_lists_and_describes_every_api() {
        let facts = fixtures::site_facts();
        let document = document(&facts);
        let contexts = fixtures::list(&document["linkset"]);
        let items: Vec<&Value> =
            fixtures::list(&contexts[0]["item"]).iter().map(|item| &item["href"]).collect();
        for path in ["/api/x402", "/api/x402/postcards", "/api/mpp/postcards", "/mcp"] {
            assert!(items.contains(&&json!(facts.url(path))), "{path}");
        }
        let anchors: Vec<&Value> = contexts[1..].iter().map(|one| &one["anchor"]).collect();
        assert_eq!(items, anchors);
    }

    #[test]
    fn a_type_is_what_the_surface_serves() {
        let facts = fixtures::site_facts();
        let document = document(&facts);
        for context in &fixtures::list(&document["linkset"])[1..] {
            for link in ["service-desc", "service-meta"]
                .iter()
                .flat_map(|relation| fixtures::list(&context[*relation]))
            {
                let served = SURFACE.iter().find(|one| facts.url(one.path) == link["href"]);
                assert_eq!(link["type"], served.unwrap().format.essence(), "{link}");
            }
        }
    }
}
