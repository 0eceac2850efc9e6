//! `/.well-known/api-catalog`: every API with its descriptions, as a linkset (RFC 9727, RFC 9264).

use serde_json::{Value, json};

use super::places::{self, essence};
use crate::premises::Premises;
use crate::surface::{Answer, Endpoint, Tag};

/// Documents live here; what they describe does not.
const WELL_KNOWN: &str = "/.well-known/";

pub fn document(premises: &Premises) -> Value {
    let apis: Vec<&Endpoint> = premises.surface().filter(|endpoint| is_api(endpoint)).collect();
    let items = apis.iter().map(|api| json!({"href": premises.url(api.path), "title": api.says}));
    let own = json!({
        "anchor": premises.url(places::API_CATALOG.path),
        "item": items.collect::<Vec<_>>(),
    });
    let contexts = std::iter::once(own).chain(apis.iter().map(|api| context(premises, api)));
    json!({"linkset": contexts.collect::<Vec<_>>()})
}

/// Something to call, at an address that is complete without parameters.
fn is_api(endpoint: &Endpoint) -> bool {
    let kind = match endpoint.tag {
        Tag::Postcards | Tag::Shop | Tag::Mcp | Tag::Agents => endpoint.answer == Answer::Json,
        Tag::Discover => endpoint.path.starts_with(places::QUOTE.path),
        Tag::Pages => false,
    };
    kind && !endpoint.path.contains('{') && !endpoint.path.starts_with(WELL_KNOWN)
}

/// RFC 9264 wants an array for every relation, even for a single link.
fn context(premises: &Premises, api: &Endpoint) -> Value {
    let link = |target: Endpoint| json!({"href": premises.url(target.path), "type": essence(target.answer)});
    let descriptions = match api.tag {
        Tag::Mcp => vec![link(places::MCP_CARD), link(places::OPENAPI)],
        Tag::Postcards | Tag::Shop | Tag::Agents | Tag::Discover | Tag::Pages => {
            vec![link(places::OPENAPI)]
        }
    };
    let metadata = [places::AGENT_CARD, places::SERVER_JSON, places::AI_CATALOG];
    json!({
        "anchor": premises.url(api.path),
        "service-desc": descriptions,
        "service-doc": documentation(premises, api.tag),
        "service-meta": metadata.map(link),
        "status": [{
            "href": premises.url(places::HEALTH_PATH),
            "type": essence(Answer::Json),
        }],
    })
}

fn documentation(premises: &Premises, tag: Tag) -> Vec<Value> {
    let both = |page: &str| {
        vec![
            json!({"href": places::page(premises, page), "type": essence(Answer::Html)}),
            json!({
                "href": places::page_markdown(premises, page),
                "type": essence(Answer::Markdown),
            }),
        ]
    };
    match tag {
        Tag::Postcards | Tag::Discover => both(places::MARKETPLACE),
        Tag::Shop => both(places::SHOP),
        Tag::Mcp | Tag::Pages => both(places::DEVELOPERS),
        Tag::Agents => {
            let guide = places::AUTH_GUIDE;
            vec![json!({"href": premises.url(guide.path), "type": essence(guide.answer)})]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::samples;
    use crate::surface::SURFACE;

    #[test]
    fn every_context_has_an_absolute_anchor_and_arrays_of_links_only() {
        let document = document(&samples::premises());
        for context in samples::list(&document["linkset"]) {
            for (relation, value) in context.as_object().unwrap() {
                if relation == "anchor" {
                    assert!(value.as_str().unwrap().starts_with("https://"), "{value}");
                    continue;
                }
                assert!(!samples::list(value).is_empty(), "{relation}");
                for link in samples::list(value) {
                    assert!(link["href"].as_str().unwrap().starts_with("https://"), "{link}");
                }
            }
        }
    }

    #[test]
    fn the_catalog_names_what_can_be_called_and_describes_each() {
        let premises = samples::premises();
        let document = document(&premises);
        let contexts = samples::list(&document["linkset"]);
        let items: Vec<&Value> =
            samples::list(&contexts[0]["item"]).iter().map(|item| &item["href"]).collect();
        for path in ["/api/x402", "/api/x402/postcards", "/api/mpp/postcards", "/mcp"] {
            assert!(items.contains(&&json!(premises.url(path))), "{path}");
        }
        let anchors: Vec<&Value> = contexts[1..].iter().map(|one| &one["anchor"]).collect();
        assert_eq!(items, anchors);
    }

    #[test]
    fn a_type_is_what_the_surface_serves() {
        let premises = samples::premises();
        let document = document(&premises);
        for context in &samples::list(&document["linkset"])[1..] {
            for link in ["service-desc", "service-meta"]
                .iter()
                .flat_map(|relation| samples::list(&context[*relation]))
            {
                let served = SURFACE.iter().find(|one| premises.url(one.path) == link["href"]);
                assert_eq!(link["type"], essence(served.unwrap().answer), "{link}");
            }
        }
    }
}
