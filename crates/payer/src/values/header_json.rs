//! JSON in headers: base64 with padding for x402, for URLs and without padding for MPP.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::Value;

pub(crate) fn decode_x402(header: &str) -> Option<Value> {
    let bytes = STANDARD.decode(header.trim()).ok()?;
    serde_json::from_slice(&bytes).ok()
}

pub(crate) fn encode_x402(value: &Value) -> String {
    STANDARD.encode(value.to_string())
}

pub(crate) fn decode_mpp(text: &str) -> Option<Value> {
    let bytes = URL_SAFE_NO_PAD.decode(text.trim()).ok()?;
    serde_json::from_slice(&bytes).ok()
}

pub(crate) fn encode_mpp(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}
