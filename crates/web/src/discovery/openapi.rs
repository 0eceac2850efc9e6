//! The OpenAPI document of all endpoints and pages.
//!
//! Reading order:
//! 1. `details`, the parameters, bodies and responses of each operation, by component name;
//! 2. `paths`, every path with its operations;
//! 3. `parameters`, `request_bodies`, `headers`, `success_responses`, `error_responses` and
//!    `schemas`, the components;
//! 4. `payment` and `guidance`, for payment registries and agents;
//! 5. `components`, which removes the components of services that are not enabled.

mod components;
mod details;
mod error_responses;
mod guidance;
mod headers;
mod parameters;
mod paths;
mod payment;
mod references;
mod request_bodies;
mod schemas;
mod success_responses;

use serde_json::{Value, json};

use crate::discovery::openapi::references::merged;
pub use crate::discovery::openapi::request_bodies::example_body;
use crate::site_facts::{CONTRACT_DATE, SiteFacts};
use crate::surface::{EndpointTag, SURFACE};

/// The newest version that payment registries support.
const OPENAPI_VERSION: &str = "3.1.1";

/// If all services are enabled, every component is used; a test verifies it.
pub fn document(facts: &SiteFacts) -> Value {
    let document = full_document(facts);
    if SURFACE.iter().all(|endpoint| facts.offers(endpoint)) {
        document
    } else {
        components::only_used_components(document)
    }
}

fn full_document(facts: &SiteFacts) -> Value {
    json!({
        "openapi": OPENAPI_VERSION,
        "info": info(facts),
        "servers": [{ "url": facts.base_url }],
        "tags": EndpointTag::ALL.map(|tag| json!({ "name": tag.name(), "description": tag.description() })),
        "externalDocs": {
            "url": facts.url("/docs"),
            "description": "Quick start, errors and limits.",
        },
        "x-service-info": {
            "categories": ["postcards", "physical-mail", "shopping"],
            "docs": {
                "homepage": facts.url("/"),
                "apiReference": facts.url("/openapi.json"),
                "llms": facts.url("/llms.txt"),
            },
        },
        "security": [],
        "paths": paths::paths(facts),
        "components": {
            "parameters": parameters::parameters(facts),
            "headers": headers::headers(),
            "responses": merged([success_responses::responses(facts), error_responses::responses()]),
            "schemas": schemas::schemas(),
        },
    })
}

fn info(facts: &SiteFacts) -> Value {
    let site = &facts.catalog.site;
    json!({
        "title": site.name,
        "version": CONTRACT_DATE,
        "description": format!(
            "{} No account and no API key: {}. Discovery routes share 600 requests in 60 seconds \
             and read X-Service-API-Version, which must be 1. Routes to be removed are marked \
             deprecated and send Deprecation and Sunset; none is now. Every GET also supports \
             HEAD. Any path may answer 405, 431 (more than 16 KiB of \
             headers), 413 (more than 64 KiB of body), 408 (a body slower than 9 seconds; 400 at \
             postcards and /mcp) and 503 (no answer in time).",
            site.summary,
            guidance::authorization(facts)
        ),
        "termsOfService": facts.url("/terms-of-service"),
        "contact": { "name": site.name, "email": site.email, "url": facts.url("/contact") },
        "x-guidance": guidance::steps(facts),
    })
}

#[cfg(test)]
mod tests;
