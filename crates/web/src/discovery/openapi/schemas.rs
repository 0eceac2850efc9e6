//! The shapes of all bodies. Answers may grow members; what is named is there or typed.

mod discovery;
mod faults;
mod postcards;
mod shop;

use serde_json::{Map, Value, json};

use crate::discovery::openapi::merged;
#[cfg(test)]
pub(super) use crate::discovery::openapi::schemas::postcards::IMAGE_URL_CHARACTERS_MAX;

pub(super) fn schemas() -> Map<String, Value> {
    merged([
        postcards::schemas(),
        faults::schemas(),
        shop::schemas(),
        discovery::schemas(),
        discovery::messages(),
    ])
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn address() -> Value {
    json!({ "type": "string", "format": "uri" })
}

fn moment() -> Value {
    json!({ "type": "string", "format": "date-time" })
}

fn account() -> Value {
    json!({ "type": "string", "pattern": "^0x[a-fA-F0-9]{40}$" })
}

fn list(of: Value) -> Value {
    json!({ "type": "array", "items": of })
}

/// An object that may hold more than is named here.
fn open(required: &[&str], properties: Value) -> Value {
    json!({ "type": "object", "required": required, "properties": properties })
}
