//! Every address with its operations.

use content::page::Page;
use serde_json::{Map, Value, json};

use crate::discovery::openapi::details::{self, Details};
use crate::discovery::openapi::{bodies, payment, reference};
use crate::premises::Premises;
use crate::surface::{Endpoint, Quota, Tag, Verb};

pub(super) const PRODUCT_PATH: &str = "/shop/{slug}";

/// One operation, ready to be put at its place.
struct Placed<'a> {
    path: &'a str,
    method: &'static str,
    operation: Value,
}

pub(super) fn paths(premises: &Premises) -> Value {
    let catalog = &premises.catalog;
    let surface = premises.surface().flat_map(|endpoint| {
        let asked = Placed {
            path: endpoint.path,
            method: method(endpoint.verb),
            operation: of_endpoint(endpoint),
        };
        std::iter::once(asked).chain(companions(endpoint))
    });
    let pages = catalog.pages.iter().flat_map(|page| {
        let aliases = page.front.aliases.iter().map(String::as_str);
        std::iter::once(page.front.path.as_str()).chain(aliases).map(|path| Placed {
            path,
            method: "get",
            operation: of_page(page, path),
        })
    });
    let mut paths: Map<String, Value> = Map::new();
    for Placed { path, method, operation } in surface.chain(pages).chain([of_products()]) {
        let place = paths.entry(path).or_insert_with(|| json!({}));
        place[method] = operation;
    }
    Value::Object(paths)
}

fn of_endpoint(endpoint: &Endpoint) -> Value {
    let details = details::of(endpoint.operation).expect("a test walks the surface");
    let mut operation = operation(endpoint, endpoint.operation, details);
    if let Some(body) = details.body {
        operation["requestBody"] = bodies::body(body);
    }
    if let Some(payment) = details.payment {
        operation["x-payment-info"] = payment::info(payment);
    }
    if endpoint.retiring.is_some() {
        operation["deprecated"] = json!(true);
    }
    operation
}

/// The contract counts reading at every counted address, so it is described
/// there even where it is refused.
fn companions(endpoint: &'static Endpoint) -> Vec<Placed<'static>> {
    let reading: Vec<(&'static str, &Details)> = match (endpoint.quota, endpoint.verb) {
        (Quota::Free, _) => Vec::new(),
        (Quota::Discovery, Verb::Get) => vec![("head", details::head(endpoint))],
        (Quota::Discovery, Verb::Post) => {
            vec![("get", &details::GET_REFUSED), ("head", &details::HEAD_MCP)]
        }
    };
    let place = |(method, details): (&'static str, &Details)| {
        let name = endpoint.operation.trim_start_matches("get").trim_start_matches("call");
        let operation = operation(endpoint, &format!("{method}{name}"), details);
        Placed { path: endpoint.path, method, operation }
    };
    reading.into_iter().map(place).collect()
}

fn operation(endpoint: &Endpoint, name: &str, details: &Details) -> Value {
    let summary = details.summary.unwrap_or(endpoint.says);
    let mut operation = frame(name, summary, details.explains, endpoint.tag);
    let version = match endpoint.quota {
        Quota::Discovery => Some("X-Service-API-Version"),
        Quota::Free => None,
    };
    let names = details.parameters.iter().copied().chain(version);
    let parameters: Vec<Value> = names.map(|name| reference("parameters", name)).collect();
    if !parameters.is_empty() {
        operation["parameters"] = Value::Array(parameters);
    }
    operation["responses"] = responses(details.answers);
    operation
}

/// The page says the rest itself; crawlers read no more than 64 KB of this.
fn of_page(page: &Page, path: &str) -> Value {
    let front = &page.front;
    let description = if *path == front.path {
        format!("Markdown: {}.", page.markdown_path())
    } else {
        format!("As {}.", front.path)
    };
    let mut operation = frame(&page_operation(path), &front.title, &description, Tag::Pages);
    operation["responses"] = responses(&[(200, "Page")]);
    operation
}

fn of_products() -> Placed<'static> {
    let description = "Price and specification. Markdown: /shop/{slug}/index.md.";
    let mut operation = frame("getProductPage", "The page of one product", description, Tag::Pages);
    operation["parameters"] = json!([reference("parameters", "slug")]);
    operation["responses"] = responses(&[(200, "Page"), (404, "NoSuchPage")]);
    Placed { path: PRODUCT_PATH, method: "get", operation }
}

fn frame(name: &str, summary: &str, description: &str, tag: Tag) -> Value {
    json!({
        "operationId": name,
        "summary": summary,
        "description": description,
        "tags": [tag.name()],
        "security": [],
    })
}

fn responses(answers: &[(u16, &str)]) -> Value {
    let answer = |(status, name): &(u16, &str)| (status.to_string(), reference("responses", name));
    answers.iter().map(answer).collect::<Map<_, _>>().into()
}

/// Made from the address, since addresses are unique: `getPageDocs` of `/docs`.
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

const fn method(verb: Verb) -> &'static str {
    match verb {
        Verb::Get => "get",
        Verb::Post => "post",
    }
}
