//! Request bodies: a postcard, a JSON-RPC message, a registration.

use serde_json::{Value, json};

use crate::discovery::openapi::references::schema;

/// A valid postcard. Registries send it to see the challenge, and pages show it.
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

/// The body of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestBody {
    Postcard,
    Message,
    Registration,
    /// Some clients send a body; it is ignored.
    Anything,
}

/// Inline at each operation, with examples, because payment registries and validators resolve
/// references to schemas only.
pub(super) fn body(body: RequestBody) -> Value {
    let (required, content) = match body {
        RequestBody::Postcard => {
            (true, json!({ "schema": schema("Postcard"), "example": example_body() }))
        }
        RequestBody::Message => {
            let listing = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
            (true, json!({ "schema": schema("JsonRpcMessage"), "example": listing }))
        }
        RequestBody::Registration => {
            let request =
                json!({ "type": "anonymous", "requested_credential_type": "access_token" });
            (true, json!({ "schema": schema("RegistrationRequest"), "example": request }))
        }
        RequestBody::Anything => (false, json!({ "schema": {}, "example": {} })),
    };
    json!({ "required": required, "content": { "application/json": content } })
}
