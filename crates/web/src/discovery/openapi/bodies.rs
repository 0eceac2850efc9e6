//! What callers send: a postcard, a JSON-RPC message, a registration.

use serde_json::{Value, json};

use crate::discovery::openapi::schema;

/// One complete postcard that the door takes as it is. Registries send it to
/// see the challenge, and pages show it.
pub fn example_body() -> Value {
    json!({
        "front_image_url": "https://pennyblack.example/images/harbour.jpg",
        "message": "Dear Ada,\n\nThe build is green and the harbour is quiet. Wish you were here.\
                    \n\nYour agent",
        "recipient": {
            "name": "Ada Example",
            "address": "12 Harbour Street",
            "city": "Portland",
            "province": "OR",
            "postal_code": "97201",
            "country": "US",
        },
    })
}

/// What an operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    Postcard,
    Message,
    Registration,
    /// Some procedures send something; nobody reads it.
    Anything,
}

/// Written out at each operation, examples too: payment registries and validators follow
/// references to schemas only.
pub(super) fn body(body: Body) -> Value {
    let (required, content) = match body {
        Body::Postcard => {
            (true, json!({ "schema": schema("Postcard"), "example": example_body() }))
        }
        Body::Message => {
            let listing = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
            (true, json!({ "schema": schema("JsonRpcMessage"), "example": listing }))
        }
        Body::Registration => {
            let wish = json!({ "type": "anonymous", "requested_credential_type": "access_token" });
            (true, json!({ "schema": schema("RegistrationRequest"), "example": wish }))
        }
        Body::Anything => (false, json!({ "schema": {}, "example": {} })),
    };
    json!({ "required": required, "content": { "application/json": content } })
}
