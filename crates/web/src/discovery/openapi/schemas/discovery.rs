//! Documents that tell machines what is here, and the messages of MCP and of registration.

use serde_json::{Map, Value, json};

use super::{address, list, open, text};
use crate::discovery::openapi::{named, schema};

pub(super) fn schemas() -> Map<String, Value> {
    let object = json!({ "type": "object" });
    let openapi = json!({ "openapi": text(), "info": object, "paths": object });
    let services = json!({
        "x402Version": { "type": "integer", "const": 2 },
        "name": text(),
        "services": list(object.clone()),
        "networks": list(object.clone()),
    });
    let fact = open(&["label", "value"], json!({ "label": text(), "value": text() }));
    let briefing = json!({ "updated": text(), "headline": text(), "facts": list(fact) });
    let context = open(&["anchor"], json!({ "anchor": address() }));
    let commerce = json!({
        "version": text(),
        "name": text(),
        "url": address(),
        "endpoints": { "type": "object" },
    });
    let issuer = json!({
        "issuer": address(),
        "response_types_supported": list(text()),
        "agent_auth": schema("AgentAuth"),
    });
    let resource = json!({ "resource": address(), "agent_auth": schema("AgentAuth") });
    let catalog = ["x402Version", "name", "services", "networks"];
    let issued = ["issuer", "response_types_supported", "agent_auth"];
    named([
        ("OpenApi", open(&["openapi", "info", "paths"], openapi)),
        ("ServiceCatalog", open(&catalog, services)),
        ("Briefing", open(&["updated", "headline", "facts"], briefing)),
        ("Linkset", open(&["linkset"], json!({ "linkset": list(context) }))),
        ("Commerce", open(&["name", "url", "endpoints"], commerce)),
        ("ProtectedResource", open(&["resource", "agent_auth"], resource)),
        ("AuthorizationServer", open(&issued, issuer)),
        ("AgentAuth", agent_auth()),
        ("AgentCard", agent_card()),
        ("McpServer", mcp_server()),
        ("AiCatalog", ai_catalog()),
        ("AgentSkills", agent_skills()),
    ])
}

pub(super) fn messages() -> Map<String, Value> {
    let id = json!({ "type": ["string", "integer", "null"] });
    let request = json!({
        "jsonrpc": { "type": "string", "const": "2.0" },
        "id": { "type": ["string", "integer"], "description": "Absent in a notification." },
        "method": { "type": "string", "examples": ["tools/list"] },
        "params": { "type": "object" },
    });
    let code = json!({ "code": { "type": "integer" }, "message": text() });
    let response = json!({
        "jsonrpc": { "type": "string", "const": "2.0" },
        "id": id,
        "result": { "type": "object" },
        "error": open(&["code", "message"], code),
    });
    let wish = json!({
        "type": { "type": "string", "enum": ["anonymous"] },
        "requested_credential_type": { "type": "string", "enum": ["access_token"] },
    });
    let registration = json!({
        "registration_id": text(),
        "registration_type": { "type": "string", "const": "anonymous" },
        "credential_type": { "type": "string", "const": "access_token" },
        "credential": { "type": "string", "description": "A public read-only token." },
        "credential_expires": { "type": "null" },
        "scopes": list(json!({ "type": "string", "const": "public:read" })),
    });
    let all = [
        "registration_id",
        "registration_type",
        "credential_type",
        "credential",
        "credential_expires",
        "scopes",
    ];
    named([
        ("JsonRpcMessage", open(&["jsonrpc", "method"], request)),
        ("JsonRpcResponse", open(&["jsonrpc"], response)),
        ("RegistrationRequest", open(&["type", "requested_credential_type"], wish)),
        ("Registration", open(&all, registration)),
        ("Revocation", open(&["revoked"], json!({ "revoked": { "type": "integer" } }))),
    ])
}

fn agent_auth() -> Value {
    open(
        &["skill", "register_uri", "claim_uri", "revocation_uri", "identity_types_supported"],
        json!({
            "skill": text(),
            "register_uri": text(),
            "claim_uri": text(),
            "revocation_uri": text(),
            "identity_types_supported": list(text()),
            "anonymous": { "type": "object" },
        }),
    )
}

fn agent_card() -> Value {
    let objects = list(json!({ "type": "object" }));
    open(
        &["name", "description", "version", "supportedInterfaces", "capabilities", "skills"],
        json!({
            "name": text(),
            "description": text(),
            "version": text(),
            "supportedInterfaces": objects,
            "capabilities": { "type": "object" },
            "defaultInputModes": list(text()),
            "defaultOutputModes": list(text()),
            "skills": objects,
        }),
    )
}

fn mcp_server() -> Value {
    let remote = open(&["type", "url"], json!({ "type": text(), "url": address() }));
    open(
        &["name", "description", "version"],
        json!({
            "name": text(),
            "description": { "type": "string", "maxLength": 100 },
            "version": text(),
            "remotes": list(remote),
        }),
    )
}

fn ai_catalog() -> Value {
    open(
        &["specVersion", "entries"],
        json!({
            "specVersion": text(),
            "host": { "type": "object" },
            "entries": list(json!({ "type": "object" })),
        }),
    )
}

fn agent_skills() -> Value {
    open(&["skills"], json!({ "$schema": text(), "skills": list(json!({ "type": "object" })) }))
}
