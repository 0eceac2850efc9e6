//! By which revision of the protocol a request wants to be served.

use std::borrow::Cow;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::{HeaderMap, HeaderName};
use serde_json::json;

use super::given::{Given, Members};
use super::message::{Fault, HEADER_MISMATCH, INVALID_PARAMS, UNSUPPORTED_VERSION};
use crate::discovery::mcp_card::PROTOCOL_VERSIONS;
use crate::premises::Profile;

/// The first revision without a handshake.
pub(super) const MODERN: &str = "2026-07-28";
/// What we say to a client whose revision we do not know.
pub(super) const NEWEST_LEGACY: &str = "2025-11-25";

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

const VERSION_HEADER: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD_HEADER: HeaderName = HeaderName::from_static("mcp-method");
const NAME_HEADER: HeaderName = HeaderName::from_static("mcp-name");

/// Stands for a header that says nothing; no version, method or name is written so.
const UNREADABLE: &str = "(unreadable)";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// With a handshake that a stateless server answers and forgets.
    Legacy,
    /// Every request says for itself what it wants.
    Modern,
}

/// Judges a request. The body decides; headers must agree with it.
pub(super) fn judge(
    profile: Profile,
    headers: &HeaderMap,
    method: &str,
    params: &Members<'_>,
) -> Result<Era, Fault> {
    let meta = params.object("_meta");
    let claim = meta.and_then(|meta| meta.get(VERSION_KEY));
    match (claim, profile) {
        (Some(claim), _) => modern(headers, method, params, claim),
        // Clients open with whatever header they have; the body negotiates.
        (None, Profile::Node) if method != "initialize" => legacy(headers),
        (None, Profile::Node | Profile::Worker) => Ok(Era::Legacy),
    }
}

/// What a notification may say in its header.
pub(super) fn notification(profile: Profile, headers: &HeaderMap) -> Result<(), Fault> {
    match (profile, said(headers, &VERSION_HEADER)) {
        (Profile::Worker, _) | (Profile::Node, None) => Ok(()),
        (Profile::Node, Some(version)) if is_known(&version) => Ok(()),
        (Profile::Node, Some(version)) => Err(unsupported(&version)),
    }
}

fn legacy(headers: &HeaderMap) -> Result<Era, Fault> {
    match said(headers, &VERSION_HEADER) {
        Some(version) if version == MODERN => Err(missing()),
        Some(version) if !is_known(&version) => Err(unsupported(&version)),
        Some(_) | None => Ok(Era::Legacy),
    }
}

fn modern(
    headers: &HeaderMap,
    method: &str,
    params: &Members<'_>,
    claim: &Given<'_>,
) -> Result<Era, Fault> {
    let capabilities = params.object("_meta").and_then(|meta| meta.object(CAPABILITIES_KEY));
    let (Some(claim), Some(_)) = (claim.text(), capabilities) else {
        return Err(missing());
    };
    let mismatch = |words: &'static str| Err(Fault::new(HEADER_MISMATCH, words));
    if said(headers, &VERSION_HEADER).as_deref() != Some(claim) {
        return mismatch("MCP-Protocol-Version: must be what _meta says.");
    }
    if claim != MODERN {
        return Err(unsupported(claim));
    }
    if said(headers, &METHOD_HEADER).as_deref() != Some(method) {
        return mismatch("Mcp-Method: must be the method of the message.");
    }
    let named = match method {
        "tools/call" | "prompts/get" => params.text("name"),
        "resources/read" => params.text("uri"),
        _ => None,
    };
    if named.is_some() && said(headers, &NAME_HEADER).as_deref() != named {
        return mismatch("Mcp-Name: must be the name or URI that the message asks for.");
    }
    Ok(Era::Modern)
}

/// The value of a header. What comes on two lines, or is no text, is nothing that
/// we know, and is told as such.
fn said<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<Cow<'a, str>> {
    let mut lines = headers.get_all(name).into_iter();
    let first = lines.next()?;
    let one = Some(first).filter(|_| lines.next().is_none());
    let text = one.and_then(|line| line.to_str().ok()).unwrap_or(UNREADABLE).trim();
    // What is not plain text travels wrapped.
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

fn is_known(version: &str) -> bool {
    PROTOCOL_VERSIONS.contains(&version)
}

fn missing() -> Fault {
    let words = format!("params._meta: {VERSION_KEY} and {CAPABILITIES_KEY} are required.");
    Fault::new(INVALID_PARAMS, words)
}

fn unsupported(requested: &str) -> Fault {
    let data = json!({ "supported": PROTOCOL_VERSIONS, "requested": requested });
    let words = "Unsupported protocol version; data.supported has those that are.";
    Fault { data: Some(data), ..Fault::new(UNSUPPORTED_VERSION, words) }
}
