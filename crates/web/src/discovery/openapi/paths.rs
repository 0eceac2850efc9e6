//! Every path with its operations.

use content::page::{Page, PageKind};
use serde_json::{Map, Value, json};

use crate::discovery::openapi::details::{self, OperationDetails};
use crate::discovery::openapi::references::reference;
use crate::discovery::openapi::{payment, request_bodies};
use crate::site_facts::SiteFacts;
use crate::surface::{Endpoint, EndpointTag, HttpMethod, QuotaScope};

pub(super) const PRODUCT_PATH: &str = "/shop/{slug}";

/// One operation with its path and method.
struct PathOperation<'a> {
    path: &'a str,
    method: &'static str,
    operation: Value,
}

pub(super) fn paths(facts: &SiteFacts) -> Value {
    let catalog = &facts.catalog;
    let surface = facts.endpoints().flat_map(|endpoint| {
        let operation = PathOperation {
            path: endpoint.path,
            method: method(endpoint.method),
            operation: of_endpoint(endpoint),
        };
        std::iter::once(operation).chain(companions(endpoint))
    });
    let pages = catalog.pages.iter().filter(|page| is_listed(facts, page)).flat_map(|page| {
        let aliases = page.front.aliases.iter().map(String::as_str);
        std::iter::once(page.front.path.as_str()).chain(aliases).map(|path| PathOperation {
            path,
            method: "get",
            operation: for_page(page, path),
        })
    });
    let mut paths: Map<String, Value> = Map::new();
    for PathOperation { path, method, operation } in surface.chain(pages).chain([of_products()]) {
        let item = paths.entry(path).or_insert_with(|| json!({}));
        item[method] = operation;
    }
    Value::Object(paths)
}

fn of_endpoint(endpoint: &Endpoint) -> Value {
    let details = details::of(endpoint.operation).expect("a test walks the surface");
    let mut operation = operation(endpoint, endpoint.operation, details);
    if let Some(body) = details.body {
        operation["requestBody"] = request_bodies::body(body);
    }
    if let Some(payment) = details.payment {
        operation["x-payment-info"] = payment::info(payment);
    }
    if endpoint.deprecation.is_some() {
        operation["deprecated"] = json!(true);
    }
    operation
}

/// The contract counts GET and HEAD at every path with a quota, so both are described even if they
/// are rejected.
fn companions(endpoint: &'static Endpoint) -> Vec<PathOperation<'static>> {
    let reading: Vec<(&'static str, &OperationDetails)> = match (endpoint.quota, endpoint.method) {
        (QuotaScope::Exempt, _) => Vec::new(),
        (QuotaScope::Discovery, HttpMethod::Get) => vec![("head", details::head(endpoint))],
        (QuotaScope::Discovery, HttpMethod::Post) => {
            vec![("get", &details::GET_REFUSED), ("head", &details::HEAD_MCP)]
        }
    };
    let operation = |(method, details): (&'static str, &OperationDetails)| {
        let name = endpoint.operation.trim_start_matches("get").trim_start_matches("call");
        let operation = operation(endpoint, &format!("{method}{name}"), details);
        PathOperation { path: endpoint.path, method, operation }
    };
    reading.into_iter().map(operation).collect()
}

fn operation(endpoint: &Endpoint, name: &str, details: &OperationDetails) -> Value {
    let summary = details.summary.unwrap_or(endpoint.summary);
    let mut operation = base_operation(name, summary, details.description, endpoint.tag);
    let version = match endpoint.quota {
        QuotaScope::Discovery => Some("X-Service-API-Version"),
        QuotaScope::Exempt => None,
    };
    let names = details.parameters.iter().copied().chain(version);
    let parameters: Vec<Value> = names.map(|name| reference("parameters", name)).collect();
    if !parameters.is_empty() {
        operation["parameters"] = Value::Array(parameters);
    }
    operation["responses"] = responses(details.responses);
    operation
}

/// The form is listed once, because it is for people and crawlers read only 64 KB.
pub(super) fn is_listed(facts: &SiteFacts, page: &Page) -> bool {
    page.front.kind != PageKind::Send || page.language == facts.catalog.site.default_language()
}

/// Short, because crawlers read only 64 KB of this document.
fn for_page(page: &Page, path: &str) -> Value {
    let front = &page.front;
    let description = if front.kind == PageKind::Send {
        "A form for people.".to_owned()
    } else if *path == front.path {
        "Also as Markdown.".to_owned()
    } else {
        format!("As {}.", front.path)
    };
    let mut operation =
        base_operation(&page_operation(path), &front.heading, &description, EndpointTag::Pages);
    operation["responses"] = responses(&[(200, "Page")]);
    operation
}

fn of_products() -> PathOperation<'static> {
    let description = "Price and specification. Markdown: /shop/{slug}/index.md.";
    let mut operation = base_operation(
        "getProductPage",
        "The page of one product",
        description,
        EndpointTag::Pages,
    );
    operation["parameters"] = json!([reference("parameters", "slug")]);
    operation["responses"] = responses(&[(200, "Page"), (404, "NoSuchPage")]);
    PathOperation { path: PRODUCT_PATH, method: "get", operation }
}

fn base_operation(name: &str, summary: &str, description: &str, tag: EndpointTag) -> Value {
    json!({
        "operationId": name,
        "summary": summary,
        "description": description,
        "tags": [tag.name()],
        "security": [],
    })
}

fn responses(statuses: &[(u16, &str)]) -> Value {
    let answer = |(status, name): &(u16, &str)| (status.to_string(), reference("responses", name));
    statuses.iter().map(answer).collect::<Map<_, _>>().into()
}

/// Derived from the path, which is unique: `getPageDocs` of `/docs`.
fn page_operation(path: &str) -> String {
    let mut name = "getPage".to_owned();
    let mut begins_a_word = true;
    for letter in path.trim_matches('/').chars() {
        if letter == '/' {
            name.push('_');
        }
        if letter.is_ascii_alphanumeric() {
            name.push(if begins_a_word { letter.to_ascii_uppercase() } else { letter });
        }
        begins_a_word = !letter.is_ascii_alphanumeric();
    }
    name
}

const fn method(verb: HttpMethod) -> &'static str {
    match verb {
        HttpMethod::Get => "get",
        HttpMethod::Post => "post",
    }
}
