//! The OpenAPI document: the surface and the pages of the catalog, with their details.
//!
//! Reading order:
//! 1. `details`, what each operation takes and answers, by the names of components;
//! 2. `paths`, every address with its operations;
//! 3. `parameters`, `bodies`, `headers`, `replies`, `refusals` and `schemas`, the components;
//! 4. `payment` and `guidance`, what registries of paid services and agents read;
//! 5. `used`, which leaves out the components of closed operations.

mod bodies;
mod details;
mod guidance;
mod headers;
mod parameters;
mod paths;
mod payment;
mod refusals;
mod replies;
mod schemas;
mod used;

use serde_json::{Map, Value, json};

pub use crate::discovery::openapi::bodies::example_body;
use crate::premises::{CONTRACT_DATE, Premises};
use crate::surface::{SURFACE, Tag};

/// Payment registries promise to read this version; none promises a newer one.
const OPENAPI_VERSION: &str = "3.1.1";

/// The whole document. Where all is open, every component is used: a test says so.
pub fn document(premises: &Premises) -> Value {
    let described = described(premises);
    if SURFACE.iter().all(|endpoint| premises.offers(endpoint)) {
        described
    } else {
        used::only_used_components(described)
    }
}

fn described(premises: &Premises) -> Value {
    json!({
        "openapi": OPENAPI_VERSION,
        "info": info(premises),
        "servers": [{ "url": premises.base_url }],
        "tags": Tag::ALL.map(|tag| json!({ "name": tag.name(), "description": tag.says() })),
        "externalDocs": {
            "url": premises.url("/docs"),
            "description": "Quick start, errors and limits.",
        },
        "x-service-info": {
            "categories": ["postcards", "physical-mail", "shopping"],
            "docs": {
                "homepage": premises.url("/"),
                "apiReference": premises.url("/openapi.json"),
                "llms": premises.url("/llms.txt"),
            },
        },
        "security": [],
        "paths": paths::paths(premises),
        "components": {
            "parameters": parameters::parameters(premises),
            "headers": headers::headers(),
            "responses": merged([replies::replies(premises), refusals::refusals()]),
            "schemas": schemas::schemas(),
        },
    })
}

fn info(premises: &Premises) -> Value {
    let site = &premises.catalog.site;
    json!({
        "title": site.name,
        "version": CONTRACT_DATE,
        "description": format!(
            "{} No account and no API key: {}. Counted routes share 600 requests in 60 seconds and read X-Service-API-Version, which takes the value 1. Routes that \
             retire are marked deprecated here and send Deprecation and Sunset first; none does \
             now. Every GET also takes HEAD. Any address may answer 405, 431 (more than 16 KiB of \
             headers), 413 (more than 64 KiB of body), 408 (a body slower than 10 seconds; 400 at \
             postcards and /mcp) and 503 (no answer in time).",
            site.summary,
            guidance::authorization(premises)
        ),
        "termsOfService": premises.url("/terms-of-service"),
        "contact": { "name": site.name, "email": site.email, "url": premises.url("/contact") },
        "x-guidance": guidance::steps(premises),
    })
}

fn reference(kind: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{kind}/{name}") })
}

fn schema(name: &str) -> Value {
    reference("schemas", name)
}

fn named<const COUNT: usize>(parts: [(&str, Value); COUNT]) -> Map<String, Value> {
    parts.into_iter().map(|(name, part)| (name.to_owned(), part)).collect()
}

fn merged<const COUNT: usize>(parts: [Map<String, Value>; COUNT]) -> Map<String, Value> {
    parts.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests;
