//! Completion of paths, slugs and ids.

use serde_json::json;

use super::json::JsonObject;
use super::message::{INVALID_PARAMS, RpcError};
use super::public_content::PublicContent;
use super::resources::{ANSWER, PAGE, PRODUCT};
use super::result_body::{CacheScope, ResultBody};

/// The limit of the protocol.
const VALUES_MAX: usize = 100;

pub(super) struct Completion(Vec<CompletionTarget>);

/// A resource template, its argument and all values of it.
struct CompletionTarget {
    template: String,
    argument: &'static str,
    values: Vec<String>,
}

impl Completion {
    pub(super) fn new(content: &PublicContent) -> Self {
        let catalog = content.catalog();
        Self(vec![
            CompletionTarget {
                template: format!("{PAGE}{{+path}}"),
                argument: "path",
                values: content.pages.iter().map(|page| page.path.clone()).collect(),
            },
            CompletionTarget {
                template: format!("{PRODUCT}{{slug}}"),
                argument: "slug",
                values: catalog.products.iter().map(|product| product.slug.clone()).collect(),
            },
            CompletionTarget {
                template: format!("{ANSWER}{{id}}"),
                argument: "id",
                values: catalog.answers.iter().map(|answer| answer.id.clone()).collect(),
            },
        ])
    }

    pub(super) fn complete(&self, params: &JsonObject<'_>) -> Result<ResultBody, RpcError> {
        let text = |object: &str, name: &str| params.object(object)?.text(name);
        let (Some(kind), Some(argument), Some(prefix)) =
            (text("ref", "type"), text("argument", "name"), text("argument", "value"))
        else {
            let message = "ref.type, argument.name and argument.value are required.";
            return Err(RpcError::new(INVALID_PARAMS, message));
        };
        let fits = |target: &&CompletionTarget| {
            kind == "ref/resource"
                && text("ref", "uri") == Some(&target.template)
                && argument == target.argument
        };
        let target = self.0.iter().find(fits).ok_or_else(|| {
            let message = "Unknown reference or argument; resources/templates/list returns all.";
            RpcError::new(INVALID_PARAMS, message)
        })?;
        let matching = target.values.iter().filter(|value| value.starts_with(prefix));
        let mut values: Vec<&String> = matching.collect();
        let total = values.len();
        values.truncate(VALUES_MAX);
        let completion = json!({ "values": values, "total": total, "hasMore": total > VALUES_MAX });
        Ok(ResultBody::new(&json!({ "completion": completion }), CacheScope::NotCached))
    }
}
