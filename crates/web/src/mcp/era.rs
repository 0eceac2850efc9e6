//! By which revision of the protocol a request wants to be served.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderMap, HeaderName};
use serde_json::{Map, Value, json};

use super::message::{Fault, HEADER_MISMATCH, INVALID_PARAMS, UNSUPPORTED_VERSION};
use crate::discovery::mcp_card::PROTOCOL_VERSIONS;

/// The first revision without a handshake.
pub(super) const MODERN: &str = "2026-07-28";
/// What we say to a client whose revision we do not know.
pub(super) const NEWEST_LEGACY: &str = "2025-11-25";

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

pub(super) const VERSION_HEADER: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD_HEADER: HeaderName = HeaderName::from_static("mcp-method");
const NAME_HEADER: HeaderName = HeaderName::from_static("mcp-name");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// With a handshake that a stateless server answers and forgets.
    Legacy,
    /// Every request says for itself what it wants.
    Modern,
}

/// Judges a request. The body decides; headers must agree with it.
pub(super) fn judge(
    headers: &HeaderMap,
    id: &Value,
    method: &str,
    params: &Map<String, Value>,
) -> Result<Era, Fault> {
    let meta = params.get("_meta").and_then(Value::as_object);
    let claim = meta.and_then(|meta| meta.get(VERSION_KEY));
    match claim {
        Some(claim) => modern(headers, id, method, params, claim),
        // Clients open with whatever header they have; the body negotiates.
        None if method == "initialize" => Ok(Era::Legacy),
        None => legacy(headers, id),
    }
}

/// What a notification may say in its header.
pub(super) fn notification(headers: &HeaderMap) -> Result<(), Fault> {
    match one(headers, &VERSION_HEADER).as_deref() {
        None => Ok(()),
        Some(version) if is_known(version) => Ok(()),
        Some(version) => Err(unsupported(&Value::Null, version)),
    }
}

fn legacy(headers: &HeaderMap, id: &Value) -> Result<Era, Fault> {
    match one(headers, &VERSION_HEADER).as_deref() {
        Some(MODERN) => Err(missing(id)),
        Some(version) if !is_known(version) => Err(unsupported(id, version)),
        Some(_) | None => Ok(Era::Legacy),
    }
}

fn modern(
    headers: &HeaderMap,
    id: &Value,
    method: &str,
    params: &Map<String, Value>,
    claim: &Value,
) -> Result<Era, Fault> {
    let capabilities = params.get("_meta").and_then(|meta| meta.get(CAPABILITIES_KEY));
    let Some(claim) = claim.as_str().filter(|_| capabilities.is_some_and(Value::is_object)) else {
        return Err(missing(id));
    };
    let mismatch = |words: &str| Err(Fault::new(id, HEADER_MISMATCH, words));
    if one(headers, &VERSION_HEADER).as_deref() != Some(claim) {
        return mismatch("MCP-Protocol-Version: must be what _meta says.");
    }
    if claim != MODERN {
        return Err(unsupported(id, claim));
    }
    if one(headers, &METHOD_HEADER).as_deref() != Some(method) {
        return mismatch("Mcp-Method: must be the method of the message.");
    }
    let named = match method {
        "tools/call" | "prompts/get" => params.get("name"),
        "resources/read" => params.get("uri"),
        _ => None,
    };
    if let Some(named) = named.and_then(Value::as_str)
        && one(headers, &NAME_HEADER).as_deref() != Some(named)
    {
        return mismatch("Mcp-Name: must be the name or URI that the message asks for.");
    }
    Ok(Era::Modern)
}

/// The value of a header that may come once only; more make none.
fn one(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let mut lines = headers.get_all(name).into_iter();
    let (Some(line), None) = (lines.next(), lines.next()) else { return None };
    let text = line.to_str().ok()?.trim();
    // What is not plain text travels wrapped.
    match text.strip_prefix("=?base64?").and_then(|text| text.strip_suffix("?=")) {
        Some(wrapped) => String::from_utf8(BASE64_STANDARD.decode(wrapped).ok()?).ok(),
        None => Some(text.to_owned()),
    }
}

fn is_known(version: &str) -> bool {
    PROTOCOL_VERSIONS.contains(&version)
}

fn missing(id: &Value) -> Fault {
    let words = format!("params._meta: {VERSION_KEY} and {CAPABILITIES_KEY} are required.");
    Fault::new(id, INVALID_PARAMS, words)
}

fn unsupported(id: &Value, requested: &str) -> Fault {
    let data = json!({ "supported": PROTOCOL_VERSIONS, "requested": requested });
    let words = "Unsupported protocol version.";
    Fault { data: Some(data), ..Fault::new(id, UNSUPPORTED_VERSION, words) }
}
