//! How a half-written path, slug or id goes on.

use serde_json::{Map, Value, json};

use super::library::Library;
use super::message::{Fault, INVALID_PARAMS};
use super::resources::{ANSWER, PAGE, PRODUCT};

/// What the protocol allows in one answer.
const VALUES_MAX: usize = 100;

pub(super) fn complete(
    library: &Library,
    id: &Value,
    params: &Map<String, Value>,
) -> Result<Value, Fault> {
    let text = |path: &[&str]| {
        let first = params.get(*path.first()?)?;
        path.iter().skip(1).try_fold(first, |value, key| value.get(key))?.as_str()
    };
    let (Some(kind), Some(template), Some(name), Some(begun)) = (
        text(&["ref", "type"]),
        text(&["ref", "uri"]),
        text(&["argument", "name"]),
        text(&["argument", "value"]),
    ) else {
        let words = "ref.type, ref.uri, argument.name and argument.value are required.";
        return Err(Fault::new(id, INVALID_PARAMS, words));
    };
    let candidates = candidates(library, kind, template, name).ok_or_else(|| {
        let words = "No such reference or argument; resources/templates/list has them.";
        Fault::new(id, INVALID_PARAMS, words)
    })?;
    let fitting: Vec<&str> =
        candidates.into_iter().filter(|value| value.starts_with(begun)).collect();
    let (total, more) = (fitting.len(), fitting.len() > VALUES_MAX);
    let values: Vec<&str> = fitting.into_iter().take(VALUES_MAX).collect();
    Ok(json!({ "completion": { "values": values, "total": total, "hasMore": more } }))
}

fn candidates<'a>(
    library: &'a Library,
    kind: &str,
    template: &str,
    name: &str,
) -> Option<Vec<&'a str>> {
    let catalog = library.catalog();
    if kind != "ref/resource" {
        None
    } else if name == "path" && template == format!("{PAGE}{{+path}}") {
        Some(library.pages.iter().map(|page| page.path.as_str()).collect())
    } else if name == "slug" && template == format!("{PRODUCT}{{slug}}") {
        Some(catalog.products.iter().map(|product| product.slug.as_str()).collect())
    } else if name == "id" && template == format!("{ANSWER}{{id}}") {
        Some(catalog.answers.iter().map(|answer| answer.id.as_str()).collect())
    } else {
        None
    }
}
