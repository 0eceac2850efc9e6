//! One JSON-RPC 2.0 message, and its errors.

use std::borrow::Cow;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::json::{self, JsonError, JsonObject, JsonValue};
use crate::http::problem::Retry;

pub(super) const PARSE_ERROR: i64 = -32_700;
pub(super) const INVALID_REQUEST: i64 = -32_600;
pub(super) const METHOD_NOT_FOUND: i64 = -32_601;
pub(super) const INVALID_PARAMS: i64 = -32_602;
pub(super) const INTERNAL_ERROR: i64 = -32_603;
pub(super) const RESOURCE_NOT_FOUND: i64 = -32_002;
pub(super) const HEADER_MISMATCH: i64 = -32_020;
pub(super) const UNSUPPORTED_VERSION: i64 = -32_022;

/// A parsed body.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ParsedMessage<'a> {
    /// As it was written, because it is sent back byte for byte. None if the message has none.
    pub(super) id: Option<&'a str>,
    pub(super) message: Result<Message<'a>, RpcError>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Message<'a> {
    Request {
        method: Cow<'a, str>,
        params: JsonObject<'a>,
    },
    Notification,
    /// A response. This server sends no requests.
    Response,
}

/// A JSON-RPC error.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RpcError {
    pub(super) code: i64,
    pub(super) message: Cow<'static, str>,
    pub(super) data: Option<Value>,
    /// Whether to retry, as in every error of this service.
    pub(super) retry: Retry,
}

impl RpcError {
    pub(super) fn new(code: i64, message: impl Into<Cow<'static, str>>) -> Self {
        let retry = if code == INTERNAL_ERROR { Retry::Same } else { Retry::Never };
        Self { code, message: message.into(), data: None, retry }
    }

    /// With the id of the message, if it was readable.
    pub(super) fn body(&self, id: Option<&str>) -> String {
        let Self { code, message, retry, .. } = self;
        let mut error = json!({ "code": code, "message": message, "retry": retry });
        if let Some(data) = &self.data {
            error["data"] = data.clone();
        }
        format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, id.unwrap_or("null"))
    }
}

/// The members of a message except its id.
#[derive(Default)]
struct RawMessage<'a> {
    version: Option<JsonValue<'a>>,
    method: Option<JsonValue<'a>>,
    params: Option<JsonValue<'a>>,
    outcome: Option<JsonValue<'a>>,
}

pub(super) fn parse(body: &[u8]) -> ParsedMessage<'_> {
    let members = match json::members(body) {
        Ok(members) => members,
        Err(json_error) => return ParsedMessage { id: None, message: Err(fault(json_error)) },
    };
    let id = members.iter().find(|(name, _)| name == "id").map(|(_, raw)| raw.get());
    // mutant: any-mcp-id
    let readable = id.filter(|id| is_id(id));
    let message = match (id, readable) {
        (Some(_), None) => {
            Err(RpcError::new(INVALID_REQUEST, "id: must be a string or an integer."))
        }
        (None | Some(_), _) => parse_members(members, readable),
    };
    ParsedMessage { id: readable, message }
}

fn parse_members<'a>(
    members: Vec<(Cow<'a, str>, &'a RawValue)>,
    id: Option<&str>,
) -> Result<Message<'a>, RpcError> {
    let mut raw = RawMessage::default();
    for (name, value) in members {
        let parsed = Some(JsonValue::read(value).map_err(fault)?);
        match &*name {
            "jsonrpc" => raw.version = parsed,
            "method" => raw.method = parsed,
            "params" => raw.params = parsed,
            "result" | "error" => raw.outcome = parsed,
            _ => {}
        }
    }
    if raw.version.as_ref().and_then(JsonValue::text) != Some("2.0") {
        return Err(RpcError::new(INVALID_REQUEST, "jsonrpc: must be \"2.0\"."));
    }
    let method = match (raw.method, raw.outcome) {
        (Some(JsonValue::Text(method)), _) => method,
        (None, Some(_)) => return Ok(Message::Response),
        (Some(_) | None, _) => {
            return Err(RpcError::new(INVALID_REQUEST, "method: must be a string."));
        }
    };
    let params = match raw.params {
        None => JsonObject::default(),
        Some(JsonValue::Object(params)) => params,
        Some(JsonValue::Null | JsonValue::Integer(_) | JsonValue::Text(_) | JsonValue::Other) => {
            return Err(RpcError::new(INVALID_PARAMS, "params: must be an object."));
        }
    };
    Ok(match id {
        Some(_) => Message::Request { method, params },
        None => Message::Notification,
    })
}

fn fault(json_error: JsonError) -> RpcError {
    match json_error {
        JsonError::Invalid => RpcError::new(PARSE_ERROR, "The body is not valid JSON."),
        JsonError::Unsupported => RpcError::new(
            INVALID_REQUEST,
            "Send one JSON-RPC message, as an object. Batches, duplicate members and more than 32 \
             levels of nesting are not accepted.",
        ),
    }
}

/// A valid string, or an integer of any size.
fn is_id(id: &str) -> bool {
    let digits = id.strip_prefix('-').unwrap_or(id);
    let is_integer = digits.bytes().all(|byte| byte.is_ascii_digit());
    is_integer || (id.starts_with('"') && serde_json::from_str::<String>(id).is_ok())
}
