//! The site facts of document tests, and assertions about documents.

use content::catalog::Catalog;
use order::model::chain::{EvmAddress, Network};
use pay::mode::PaymentMode;
use serde_json::Value;

use crate::site_facts::{McpProfile, SiteFacts};
use crate::surface;
use crate::surface::OptionalService;

pub(crate) fn site_facts() -> SiteFacts {
    SiteFacts {
        base_url: "https://shop.example.org".to_owned(),
        catalog: Catalog::built_in(&surface::paths()).unwrap(),
        payee: EvmAddress::from_bytes([0x11; 20]),
        default_seller: "demo".to_owned(),
        seller_parent: "pennyblack.eth".to_owned(),
        profile: McpProfile::Node,
        mode: PaymentMode::Live,
        enabled: OptionalService::ALL.into(),
        networks: Network::ALL.to_vec(),
    }
}

/// Every string in a document, at any depth.
pub(super) fn texts(document: &Value) -> Vec<&str> {
    match document {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(members) => members.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

pub(super) fn has_no_relative_address(document: &Value) {
    for text in texts(document) {
        assert!(!text.starts_with('/'), "{text}");
    }
}

/// Asserts that the members exist and are not empty.
pub(super) fn has_members(document: &Value, names: &[&str]) {
    for name in names {
        let member = &document[*name];
        let empty = match member {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(_) | Value::Bool(_) | Value::Number(_) => false,
        };
        assert!(!empty, "{name} is missing or empty in {document}");
    }
}

pub(super) fn list(document: &Value) -> &Vec<Value> {
    document.as_array().unwrap()
}
