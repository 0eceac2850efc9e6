//! Schemas of simple types.

use serde_json::{Value, json};

pub(super) fn string() -> Value {
    json!({ "type": "string" })
}

pub(super) fn url() -> Value {
    json!({ "type": "string", "format": "uri" })
}

pub(super) fn date_time() -> Value {
    json!({ "type": "string", "format": "date-time" })
}

pub(super) fn evm_address() -> Value {
    json!({ "type": "string", "pattern": "^0x[a-fA-F0-9]{40}$" })
}

pub(super) fn list(of: Value) -> Value {
    json!({ "type": "array", "items": of })
}

/// An object that may have more members.
pub(super) fn object(required: &[&str], properties: Value) -> Value {
    json!({ "type": "object", "required": required, "properties": properties })
}
