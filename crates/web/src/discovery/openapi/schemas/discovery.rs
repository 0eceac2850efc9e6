//! Discovery documents, and the messages of MCP and of registration.

use serde_json::{Map, Value, json};

use super::types::{list, object, string, url};
use crate::discovery::openapi::references::{named, schema};

pub(super) fn schemas() -> Map<String, Value> {
    let any_object = json!({ "type": "object" });
    let openapi = json!({ "openapi": string(), "info": any_object, "paths": any_object });
    let services = json!({
        "x402Version": { "type": "integer", "const": 2 },
        "name": string(),
        "services": list(any_object.clone()),
        "networks": list(any_object.clone()),
    });
    let fact = object(&["label", "value"], json!({ "label": string(), "value": string() }));
    let briefing = json!({ "updated": string(), "headline": string(), "facts": list(fact) });
    let context = object(&["anchor"], json!({ "anchor": url() }));
    let commerce = json!({
        "version": string(),
        "name": string(),
        "url": url(),
        "endpoints": { "type": "object" },
    });
    let issuer = json!({
        "issuer": url(),
        "response_types_supported": list(string()),
        "agent_auth": schema("AgentAuth"),
    });
    let resource = json!({ "resource": url(), "agent_auth": schema("AgentAuth") });
    let catalog = ["x402Version", "name", "services", "networks"];
    let issued = ["issuer", "response_types_supported", "agent_auth"];
    named([
        ("OpenApi", object(&["openapi", "info", "paths"], openapi)),
        ("ServiceCatalog", object(&catalog, services)),
        ("Briefing", object(&["updated", "headline", "facts"], briefing)),
        ("Linkset", object(&["linkset"], json!({ "linkset": list(context) }))),
        ("Commerce", object(&["name", "url", "endpoints"], commerce)),
        ("ProtectedResource", object(&["resource", "agent_auth"], resource)),
        ("AuthorizationServer", object(&issued, issuer)),
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
    let code = json!({ "code": { "type": "integer" }, "message": string() });
    let response = json!({
        "jsonrpc": { "type": "string", "const": "2.0" },
        "id": id,
        "result": { "type": "object" },
        "error": object(&["code", "message"], code),
    });
    let wish = json!({
        "type": { "type": "string", "enum": ["anonymous"] },
        "requested_credential_type": { "type": "string", "enum": ["access_token"] },
    });
    let registration = json!({
        "registration_id": string(),
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
        ("JsonRpcMessage", object(&["jsonrpc", "method"], request)),
        ("JsonRpcResponse", object(&["jsonrpc"], response)),
        ("RegistrationRequest", object(&["type", "requested_credential_type"], wish)),
        ("Registration", object(&all, registration)),
        ("Revocation", object(&["revoked"], json!({ "revoked": { "type": "integer" } }))),
    ])
}

fn agent_auth() -> Value {
    object(
        &["skill", "register_uri", "claim_uri", "revocation_uri", "identity_types_supported"],
        json!({
            "skill": string(),
            "register_uri": string(),
            "claim_uri": string(),
            "revocation_uri": string(),
            "identity_types_supported": list(string()),
            "anonymous": { "type": "object" },
        }),
    )
}

fn agent_card() -> Value {
    let objects = list(json!({ "type": "object" }));
    object(
        &["name", "description", "version", "supportedInterfaces", "capabilities", "skills"],
        json!({
            "name": string(),
            "description": string(),
            "version": string(),
            "supportedInterfaces": objects,
            "capabilities": { "type": "object" },
            "defaultInputModes": list(string()),
            "defaultOutputModes": list(string()),
            "skills": objects,
        }),
    )
}

fn mcp_server() -> Value {
    let remote = object(&["type", "url"], json!({ "type": string(), "url": url() }));
    object(
        &["name", "description", "version"],
        json!({
            "name": string(),
            "description": { "type": "string", "maxLength": 100 },
            "version": string(),
            "remotes": list(remote),
        }),
    )
}

fn ai_catalog() -> Value {
    object(
        &["specVersion", "entries"],
        json!({
            "specVersion": string(),
            "host": { "type": "object" },
            "entries": list(json!({ "type": "object" })),
        }),
    )
}

fn agent_skills() -> Value {
    object(&["skills"], json!({ "$schema": string(), "skills": list(json!({ "type": "object" })) }))
}
