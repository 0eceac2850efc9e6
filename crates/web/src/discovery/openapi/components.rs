//! Removes components that no operation refers to, as when a service is not enabled.

use std::collections::BTreeSet;

use serde_json::Value;

/// The document without unused components, also those that only unused components refer to.
pub(super) fn only_used_components(mut document: Value) -> Value {
    loop {
        let mut used = BTreeSet::new();
        references(&document, &mut used);
        if !drop_unused(&mut document, &used) {
            return document;
        }
    }
}

/// The text of every `$ref`.
fn references(part: &Value, found: &mut BTreeSet<String>) {
    match part {
        Value::Object(members) => {
            found.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
            members.values().for_each(|member| references(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether anything was removed.
fn drop_unused(document: &mut Value, used: &BTreeSet<String>) -> bool {
    let mut dropped = false;
    let kinds = document["components"].as_object_mut().into_iter().flatten();
    for (kind, parts) in kinds {
        let Some(parts) = parts.as_object_mut() else { continue };
        let before = parts.len();
        parts.retain(|name, _| used.contains(&format!("#/components/{kind}/{name}")));
        dropped |= parts.len() < before;
    }
    dropped
}
