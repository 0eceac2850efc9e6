//! How the doors say that something is wrong.

use serde_json::{Map, Value, json};

use super::{address, list, open, text};
use crate::discovery::openapi::parameters::ORDER_ID;
use crate::discovery::openapi::{named, schema};

pub(super) fn schemas() -> Map<String, Value> {
    let problem = json!({
        "type": { "type": "string", "format": "uri-reference" },
        "title": text(),
        "status": { "type": "integer", "minimum": 400, "maximum": 599 },
        "detail": text(),
        "instance": address(),
    });
    let more = open(&["detail", "error"], json!({ "error": schema("Fault") }));
    let policies = json!({ "violated-policies": list(text()) });
    let quota = open(&["violated-policies"], policies);
    let agent = json!({
        "error": {
            "type": "string",
            "description": "anonymous_not_enabled, unsupported_credential_type, \
                            identity_assertion_not_enabled, claim_not_required, rate_limited or \
                            invalid_request.",
        },
        "message": text(),
    });
    named([
        ("Error", open(&["error"], json!({ "error": schema("Fault") }))),
        ("Fault", fault()),
        ("Problem", open(&["type", "title", "status"], problem)),
        ("FaultProblem", json!({ "allOf": [schema("Problem"), more] })),
        ("QuotaProblem", json!({ "allOf": [schema("FaultProblem"), quota] })),
        ("AgentError", open(&["error", "message"], agent)),
        ("McpRefusal", json!({ "anyOf": [schema("JsonRpcResponse"), schema("Error")] })),
    ])
}

fn fault() -> Value {
    let field = open(&["field", "message"], json!({ "field": text(), "message": text() }));
    open(
        &["code", "message", "retry"],
        json!({
            "code": { "type": "string", "description": "A word for programs; new ones may come." },
            "message": { "type": "string", "description": "It never repeats what was sent." },
            "retry": {
                "type": "string",
                "enum": ["same", "never", "new_payment"],
                "description": "same: this request again, later. new_payment: nothing moved, sign \
                                again. never: change the request first.",
            },
            "public_order_id": {
                "type": "string",
                "pattern": ORDER_ID,
                "description": "The order to look at.",
            },
            "fields": list(field),
        }),
    )
}
