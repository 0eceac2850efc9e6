//! The methods of the protocol.

use std::borrow::Cow;

use super::json::{JsonObject, JsonValue};
use super::message::{INVALID_PARAMS, METHOD_NOT_FOUND, RESOURCE_NOT_FOUND, RpcError};
use super::prepared::PreparedResults;
use super::protocol_version::ProtocolVersion;
use super::result_body::ResultBody;
use serde_json::json;

/// A request whose format is valid.
pub(super) struct RpcRequest<'a> {
    pub(super) version: ProtocolVersion,
    pub(super) method: &'a str,
    pub(super) params: &'a JsonObject<'a>,
}

pub(super) fn dispatch<'a>(
    prepared: &'a PreparedResults,
    request: &RpcRequest<'_>,
) -> Result<Cow<'a, ResultBody>, RpcError> {
    let RpcRequest { version, method, params } = *request;
    match (version, method) {
        (ProtocolVersion::Legacy, "initialize") => initialize_result(prepared, params),
        (ProtocolVersion::Legacy, "ping") => Ok(Cow::Borrowed(&prepared.ping_result)),
        (ProtocolVersion::Modern, "server/discover") => Ok(Cow::Borrowed(&prepared.discovery)),
        (_, "tools/list") => complete_list(&prepared.tool_list, params),
        (_, "tools/call") => prepared.tools.call(params),
        (_, "resources/list") => complete_list(&prepared.resource_list, params),
        (_, "resources/read") => read(prepared, request),
        (_, "resources/templates/list") => match &prepared.node_features {
            Some(node_features) => complete_list(&node_features.template_list, params),
            None => Err(unknown_method()),
        },
        (_, "completion/complete") => match &prepared.node_features {
            Some(node_features) => node_features.completion.complete(params).map(Cow::Owned),
            None => Err(unknown_method()),
        },
        (ProtocolVersion::Legacy | ProtocolVersion::Modern, _) => Err(unknown_method()),
    }
}

fn unknown_method() -> RpcError {
    RpcError::new(METHOD_NOT_FOUND, "Unknown method; start with tools/list or resources/list.")
}

fn initialize_result<'a>(
    prepared: &'a PreparedResults,
    params: &JsonObject<'_>,
) -> Result<Cow<'a, ResultBody>, RpcError> {
    let version = params.text("protocolVersion").ok_or_else(|| {
        let message = "protocolVersion: required; send the version of your client.";
        RpcError::new(INVALID_PARAMS, message)
    })?;
    Ok(Cow::Borrowed(prepared.initialize_result(version)))
}

/// A complete list. There is no second page, so any cursor is an error.
fn complete_list<'a>(
    list: &'a ResultBody,
    params: &JsonObject<'_>,
) -> Result<Cow<'a, ResultBody>, RpcError> {
    match params.get("cursor") {
        None | Some(JsonValue::Null) => Ok(Cow::Borrowed(list)),
        Some(
            JsonValue::Integer(_) | JsonValue::Text(_) | JsonValue::Object(_) | JsonValue::Other,
        ) => {
            Err(RpcError::new(INVALID_PARAMS, "cursor: unknown; the list is complete without one."))
        }
    }
}

fn read<'a>(
    prepared: &'a PreparedResults,
    request: &RpcRequest<'_>,
) -> Result<Cow<'a, ResultBody>, RpcError> {
    let uri = request.params.text("uri").ok_or_else(|| {
        RpcError::new(INVALID_PARAMS, "uri: required; resources/list returns all URIs.")
    })?;
    // Looked up in a list, never in a file system.
    prepared.resources.get(uri).map(Cow::Borrowed).ok_or_else(|| {
        let code = match request.version {
            ProtocolVersion::Legacy => RESOURCE_NOT_FOUND,
            ProtocolVersion::Modern => INVALID_PARAMS,
        };
        let fault =
            RpcError::new(code, "Resource not found; resources/list returns all resources.");
        RpcError { data: Some(json!({ "uri": uri })), ..fault }
    })
}
