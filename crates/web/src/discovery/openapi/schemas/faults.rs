//! Error bodies.

use serde_json::{Map, Value, json};

use super::types::{list, object, string, url};
use crate::discovery::openapi::parameters::ORDER_ID;
use crate::discovery::openapi::references::{named, schema};

pub(super) fn schemas() -> Map<String, Value> {
    let problem = json!({
        "type": { "type": "string", "format": "uri-reference" },
        "title": string(),
        "status": { "type": "integer", "minimum": 400, "maximum": 599 },
        "detail": string(),
        "instance": url(),
    });
    let details = object(&["detail", "error"], json!({ "error": schema("Fault") }));
    let policies = json!({ "violated-policies": list(string()) });
    let quota = object(&["violated-policies"], policies);
    let agent = json!({
        "error": {
            "type": "string",
            "description": "anonymous_not_enabled, unsupported_credential_type, \
                            identity_assertion_not_enabled, claim_not_required, rate_limited or \
                            invalid_request.",
        },
        "message": string(),
    });
    named([
        ("Error", object(&["error"], json!({ "error": schema("Fault") }))),
        ("Fault", fault()),
        ("Problem", object(&["type", "title", "status"], problem)),
        ("FaultProblem", json!({ "allOf": [schema("Problem"), details] })),
        ("QuotaProblem", json!({ "allOf": [schema("FaultProblem"), quota] })),
        ("AgentError", object(&["error", "message"], agent)),
        ("McpRefusal", json!({ "anyOf": [schema("JsonRpcResponse"), schema("Error")] })),
    ])
}

fn fault() -> Value {
    let field = object(&["field", "message"], json!({ "field": string(), "message": string() }));
    object(
        &["code", "message", "retry"],
        json!({
            "code": { "type": "string", "description": "Machine-readable code. More may be added." },
            "message": { "type": "string", "description": "Never contains request data." },
            "retry": {
                "type": "string",
                "enum": ["same", "never", "new_payment"],
                "description": "same: retry later. new_payment: nothing was charged, sign again. \
                                never: change the request first.",
            },
            "public_order_id": {
                "type": "string",
                "pattern": ORDER_ID,
                "description": "The order to check.",
            },
            "fields": list(field),
            "quote": schema("CardQuote"),
        }),
    )
}
