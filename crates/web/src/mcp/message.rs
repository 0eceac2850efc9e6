//! One JSON-RPC 2.0 message, and the answers to it.

use serde_json::{Map, Value, json};

pub(super) const PARSE_ERROR: i64 = -32_700;
pub(super) const INVALID_REQUEST: i64 = -32_600;
pub(super) const METHOD_NOT_FOUND: i64 = -32_601;
pub(super) const INVALID_PARAMS: i64 = -32_602;
pub(super) const RESOURCE_NOT_FOUND: i64 = -32_002;
pub(super) const HEADER_MISMATCH: i64 = -32_020;
pub(super) const UNSUPPORTED_VERSION: i64 = -32_022;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Message {
    Request {
        id: Value,
        method: String,
        params: Map<String, Value>,
    },
    Notification,
    /// An answer, which nobody here has asked for.
    Response,
}

/// What is wrong with a message, and the id to say it under, where one was readable.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fault {
    pub(super) id: Value,
    pub(super) code: i64,
    pub(super) message: String,
    pub(super) data: Option<Value>,
}

impl Fault {
    pub(super) fn new(id: &Value, code: i64, message: impl Into<String>) -> Self {
        Self { id: id.clone(), code, message: message.into(), data: None }
    }

    pub(super) fn body(&self) -> String {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        json!({ "jsonrpc": "2.0", "id": self.id, "error": error }).to_string()
    }
}

pub(super) fn answer(id: &Value, result: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()
}

pub(super) fn read(body: &[u8]) -> Result<Message, Fault> {
    let value: Value = serde_json::from_slice(body)
        .map_err(|_| Fault::new(&Value::Null, PARSE_ERROR, "The body is no JSON."))?;
    let invalid = |id: &Value, words: &str| Fault::new(id, INVALID_REQUEST, words);
    let Value::Object(mut message) = value else {
        let words = "Send one JSON-RPC message, as an object; batches are not taken.";
        return Err(invalid(&Value::Null, words));
    };
    let id = message.remove("id");
    let readable = id.clone().filter(is_id).unwrap_or(Value::Null);
    if message.get("jsonrpc") != Some(&json!("2.0")) {
        return Err(invalid(&readable, "jsonrpc: must be \"2.0\"."));
    }
    if id.as_ref().is_some_and(|id| !is_id(id)) {
        return Err(invalid(&Value::Null, "id: must be a string or a whole number."));
    }
    let method = match message.remove("method") {
        Some(Value::String(method)) => method,
        None if message.contains_key("result") || message.contains_key("error") => {
            return Ok(Message::Response);
        }
        Some(_) | None => return Err(invalid(&readable, "method: must be a string.")),
    };
    let params = match message.remove("params") {
        None => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => {
            return Err(Fault::new(&readable, INVALID_PARAMS, "params: must be an object."));
        }
    };
    Ok(match id {
        Some(id) => Message::Request { id, method, params },
        None => Message::Notification,
    })
}

fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_i64() || id.is_u64()
}
