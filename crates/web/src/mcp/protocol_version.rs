//! The protocol version of a request.

use std::borrow::Cow;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderMap, HeaderName};
use serde_json::json;

use super::json::{JsonObject, JsonValue};
use super::message::{HEADER_MISMATCH, INVALID_PARAMS, RpcError, UNSUPPORTED_VERSION};
use crate::discovery::agents::mcp_card::PROTOCOL_VERSIONS;
use crate::site_facts::McpProfile;

/// The first version without a handshake.
pub(super) const MODERN: &str = "2026-07-28";
/// The version that is offered to a client whose version is unknown.
pub(super) const NEWEST_LEGACY: &str = "2025-11-25";

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

const VERSION_HEADER: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD_HEADER: HeaderName = HeaderName::from_static("mcp-method");
const NAME_HEADER: HeaderName = HeaderName::from_static("mcp-name");

/// Replaces an unreadable header value. No version, method or name is written like this.
const UNREADABLE: &str = "(unreadable)";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProtocolVersion {
    /// With a handshake, which is stateless here.
    Legacy,
    /// Every request names its version.
    Modern,
}

/// The version of a request. The body decides; the headers must agree with it.
pub(super) fn for_request(
    profile: McpProfile,
    headers: &HeaderMap,
    method: &str,
    params: &JsonObject<'_>,
) -> Result<ProtocolVersion, RpcError> {
    let meta = params.object("_meta");
    let claim = meta.and_then(|meta| meta.get(VERSION_KEY));
    match (claim, profile) {
        (Some(claim), _) => modern(headers, method, params, claim),
        // Clients may send any header with `initialize`; the body negotiates.
        (None, McpProfile::Node) if method != "initialize" => legacy(headers),
        (None, McpProfile::Node | McpProfile::Worker) => Ok(ProtocolVersion::Legacy),
    }
}

/// Checks the header of a notification.
pub(super) fn check_notification(profile: McpProfile, headers: &HeaderMap) -> Result<(), RpcError> {
    match (profile, header_value(headers, &VERSION_HEADER)) {
        (McpProfile::Worker, _) | (McpProfile::Node, None) => Ok(()),
        (McpProfile::Node, Some(version)) if is_supported(&version) => Ok(()),
        (McpProfile::Node, Some(version)) => Err(unsupported(&version)),
    }
}

fn legacy(headers: &HeaderMap) -> Result<ProtocolVersion, RpcError> {
    match header_value(headers, &VERSION_HEADER) {
        Some(version) if version == MODERN => Err(missing()),
        Some(version) if !is_supported(&version) => Err(unsupported(&version)),
        Some(_) | None => Ok(ProtocolVersion::Legacy),
    }
}

fn modern(
    headers: &HeaderMap,
    method: &str,
    params: &JsonObject<'_>,
    claim: &JsonValue<'_>,
) -> Result<ProtocolVersion, RpcError> {
    let capabilities = params.object("_meta").and_then(|meta| meta.object(CAPABILITIES_KEY));
    let (Some(claim), Some(_)) = (claim.text(), capabilities) else {
        return Err(missing());
    };
    let mismatch = |message: &'static str| Err(RpcError::new(HEADER_MISMATCH, message));
    if header_value(headers, &VERSION_HEADER).as_deref() != Some(claim) {
        return mismatch("MCP-Protocol-Version: must equal the version in _meta.");
    }
    if claim != MODERN {
        return Err(unsupported(claim));
    }
    if header_value(headers, &METHOD_HEADER).as_deref() != Some(method) {
        return mismatch("Mcp-Method: must equal the method of the message.");
    }
    let named = match method {
        "tools/call" | "prompts/get" => params.text("name"),
        "resources/read" => params.text("uri"),
        _ => None,
    };
    if named.is_some() && header_value(headers, &NAME_HEADER).as_deref() != named {
        return mismatch("Mcp-Name: must equal the name or URI in the message.");
    }
    Ok(ProtocolVersion::Modern)
}

/// The value of a header. Several lines, or a value that is not text, give `UNREADABLE`.
fn header_value<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<Cow<'a, str>> {
    let mut lines = headers.get_all(name).into_iter();
    let first = lines.next()?;
    let one = Some(first).filter(|_| lines.next().is_none());
    let text = one.and_then(|line| line.to_str().ok()).unwrap_or(UNREADABLE).trim();
    // Text that is not ASCII is base64.
    let wrapped = text.strip_prefix("=?base64?").and_then(|text| text.strip_suffix("?="));
    Some(match wrapped {
        None => Cow::Borrowed(text),
        Some(wrapped) => {
            let bytes = BASE64_STANDARD.decode(wrapped).ok();
            let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
            text.map_or(Cow::Borrowed(UNREADABLE), Cow::Owned)
        }
    })
}

fn is_supported(version: &str) -> bool {
    PROTOCOL_VERSIONS.contains(&version)
}

fn missing() -> RpcError {
    let message = format!("params._meta: {VERSION_KEY} and {CAPABILITIES_KEY} are required.");
    RpcError::new(INVALID_PARAMS, message)
}

fn unsupported(requested: &str) -> RpcError {
    let data = json!({ "supported": PROTOCOL_VERSIONS, "requested": requested });
    let message = "Unsupported protocol version; data.supported lists the supported versions.";
    RpcError { data: Some(data), ..RpcError::new(UNSUPPORTED_VERSION, message) }
}
