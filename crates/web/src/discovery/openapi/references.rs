//! References to components, and maps of named components.

use serde_json::{Map, Value, json};

pub(super) fn reference(kind: &str, name: &str) -> Value {
    json!({ "$ref": format!("#/components/{kind}/{name}") })
}

pub(super) fn schema(name: &str) -> Value {
    reference("schemas", name)
}

pub(super) fn named<const COUNT: usize>(parts: [(&str, Value); COUNT]) -> Map<String, Value> {
    parts.into_iter().map(|(name, part)| (name.to_owned(), part)).collect()
}

pub(super) fn merged<const COUNT: usize>(parts: [Map<String, Value>; COUNT]) -> Map<String, Value> {
    parts.into_iter().flatten().collect()
}
