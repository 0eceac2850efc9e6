//! The extensions of a challenge, and the check that a payer echoes them unchanged.

use std::sync::LazyLock;

use order::tender::Rejection;
use serde_json::{Value, json};

use super::settler::GasSponsoring;
use super::{IDENTIFIER, SPONSORING, invalid};

/// The extension for registries of paid endpoints.
const BAZAAR: &str = "bazaar";

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The extensions of a challenge of scheme `exact`, as JSON: request and response are the same
/// at both endpoints.
pub(crate) static BAZAAR_ONLY: LazyLock<String> =
    LazyLock::new(|| json!({ BAZAAR: bazaar() }).to_string());

/// The three extensions, rendered once: they are the same in every challenge.
pub(super) struct Extensions {
    all: [(&'static str, Value); 3],
    with_sponsoring: String,
    without_sponsoring: String,
}

impl Extensions {
    pub(super) fn new() -> Self {
        let mut offered = json!({
            IDENTIFIER: identifier(),
            SPONSORING: sponsoring(),
            BAZAAR: bazaar(),
        });
        let all = [IDENTIFIER, SPONSORING, BAZAAR].map(|name| (name, offered[name].clone()));
        let with_sponsoring = offered.to_string();
        if let Some(offered) = offered.as_object_mut() {
            offered.remove(SPONSORING);
        }
        Self { all, with_sponsoring, without_sponsoring: offered.to_string() }
    }

    /// As JSON, for a challenge.
    pub(super) fn offered(&self, sponsoring: GasSponsoring) -> &str {
        match sponsoring {
            GasSponsoring::Offered => &self.with_sponsoring,
            GasSponsoring::NotOffered => &self.without_sponsoring,
        }
    }

    /// A payer may leave an extension out or add members to it, but not change ours, because
    /// facilitators and registries read them in the payload. A schema is echoed unchanged or
    /// left out.
    pub(super) fn check(&self, payload: &Value) -> Result<(), Rejection> {
        let theirs = &payload["extensions"];
        let kept = |(name, ours): &(&str, Value)| {
            theirs.get(name).is_none_or(|theirs| {
                let schema = &theirs["schema"];
                contains(&theirs["info"], &ours["info"])
                    && (schema.is_null() || *schema == ours["schema"])
            })
        };
        let shape = theirs.is_null() || theirs.is_object();
        let holds = shape && self.all.iter().all(kept);
        if holds { Ok(()) } else { Err(invalid("extension_echo_mismatch")) }
    }
}

/// Whether every member of `part` is in `whole`, at any depth.
fn contains(whole: &Value, part: &Value) -> bool {
    match part.as_object() {
        None => whole == part,
        Some(members) => members
            .iter()
            .all(|(name, part)| whole.get(name).is_some_and(|whole| contains(whole, part))),
    }
}

fn identifier() -> Value {
    json!({
        "info": { "required": false },
        "schema": {
            "$schema": DIALECT,
            "type": "object",
            "properties": {
                "required": { "type": "boolean" },
                "id": {
                    "type": "string",
                    "minLength": 16,
                    "maxLength": 128,
                    "pattern": "^[a-zA-Z0-9_-]+$",
                },
            },
            "required": ["required"],
        },
    })
}

fn sponsoring() -> Value {
    let address = json!({ "type": "string", "pattern": "^0x[a-fA-F0-9]{40}$" });
    let number = json!({ "type": "string", "pattern": "^[0-9]+$" });
    json!({
        "info": {
            "description": "An EIP-2612 permit for Permit2 is carried to the chain at our cost.",
            "version": "1",
        },
        "schema": {
            "$schema": DIALECT,
            "type": "object",
            "properties": {
                "from": address,
                "asset": address,
                "spender": address,
                "amount": number,
                "nonce": number,
                "deadline": number,
                "signature": { "type": "string", "pattern": "^0x[a-fA-F0-9]{130}$" },
                "version": { "type": "string" },
            },
            "required":
                ["from", "asset", "spender", "amount", "nonce", "deadline", "signature", "version"],
        },
    })
}

fn bazaar() -> Value {
    let text = json!({ "type": "string" });
    let recipient = ["name", "address", "city", "province", "postal_code", "country"];
    json!({
        "info": {
            "input": {
                "type": "http",
                "method": "POST",
                "bodyType": "json",
                "body": {
                    "front_image_url": "https://example.com/harbour.jpg",
                    "message": "Wish you were here.",
                    "recipient": {
                        "name": "Ada Example",
                        "address": "12 Harbour Street",
                        "city": "Portland",
                        "province": "OR",
                        "postal_code": "97201",
                        "country": "US",
                    },
                },
            },
            "output": {
                "type": "json",
                "example": { "id": "9f2c1e7ab04d4d6c8a53f0e1d2b7c694", "status": "submitted" },
            },
        },
        "schema": {
            "$schema": DIALECT,
            "type": "object",
            "properties": {
                "input": {
                    "type": "object",
                    "properties": {
                        "type": { "const": "http" },
                        "method": { "const": "POST" },
                        "bodyType": { "const": "json" },
                        "body": {
                            "type": "object",
                            "properties": {
                                "front_image_url": text,
                                "message": text,
                                "recipient": { "type": "object", "required": recipient },
                            },
                            "required": ["front_image_url", "message", "recipient"],
                        },
                    },
                    "required": ["type", "method", "bodyType", "body"],
                },
                "output": {
                    "type": "object",
                    "properties": { "type": text, "example": { "type": "object" } },
                    "required": ["type"],
                },
            },
            "required": ["input"],
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn echo() -> Value {
        let extensions = Extensions::new();
        let offered: Value =
            serde_json::from_str(extensions.offered(GasSponsoring::Offered)).unwrap();
        json!({ "extensions": offered })
    }

    #[test]
    fn a_payer_may_add_or_leave_out_members_but_not_change_them() {
        let ours = Extensions::new();
        assert_eq!(ours.check(&json!({})), Ok(()));
        assert_eq!(ours.check(&json!({ "extensions": null })), Ok(()));
        assert_eq!(ours.check(&json!({ "extensions": { "their-own": 1 } })), Ok(()));

        let mut more = echo();
        more["extensions"][IDENTIFIER]["info"]["id"] = "pay_0123456789abcdef".into();
        more["extensions"][BAZAAR]["schema"] = Value::Null;
        assert_eq!(ours.check(&more), Ok(()));

        let mismatch = Err(invalid("extension_echo_mismatch"));
        assert_eq!(ours.check(&json!({ "extensions": [] })), mismatch);
        for (place, value) in [
            ("/extensions/payment-identifier/info/required", json!(true)),
            ("/extensions/payment-identifier/info", json!({})),
            ("/extensions/eip2612GasSponsoring/info/version", json!("2")),
            ("/extensions/bazaar/info/input/body/message", json!("Buy mine instead.")),
            ("/extensions/bazaar/schema/required", json!([])),
            ("/extensions/bazaar", json!("mine")),
        ] {
            let mut changed = echo();
            *changed.pointer_mut(place).unwrap() = value;
            assert_eq!(ours.check(&changed), mismatch, "{place}");
        }
    }

    #[test]
    fn gas_sponsoring_is_listed_only_if_it_is_offered() {
        let extensions = Extensions::new();
        assert!(extensions.offered(GasSponsoring::Offered).contains(SPONSORING));
        assert!(!extensions.offered(GasSponsoring::NotOffered).contains(SPONSORING));
        assert!(extensions.offered(GasSponsoring::NotOffered).contains(IDENTIFIER));
    }
}
