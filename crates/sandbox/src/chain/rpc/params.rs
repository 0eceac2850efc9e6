//! The parameters of a call, read strictly and named when they are wrong.

use alloy_primitives::{Address, B256, Bytes, U256};
use serde_json::Value;

use super::Failure;

pub(super) struct Params<'a>(&'a [Value]);

/// Which block somebody means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    Latest,
    Pending,
    Safe,
    Finalized,
    Earliest,
    Number(u64),
    Hash(B256),
}

impl<'a> Params<'a> {
    pub(super) fn new(params: &'a Value) -> Result<Self, Failure> {
        match params {
            Value::Null => Ok(Self(&[])),
            Value::Array(list) => Ok(Self(list)),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                Err(Failure::invalid("non-array args"))
            }
        }
    }

    pub(super) fn get(&self, index: usize) -> Option<&'a Value> {
        self.0.get(index).filter(|value| !value.is_null())
    }

    fn text(&self, index: usize) -> Result<&'a str, Failure> {
        self.get(index)
            .and_then(Value::as_str)
            .ok_or_else(|| Failure::invalid(format!("missing value for required argument {index}")))
    }

    pub(super) fn address(&self, index: usize) -> Result<Address, Failure> {
        address(self.text(index)?)
    }

    pub(super) fn hash(&self, index: usize) -> Result<B256, Failure> {
        hash(self.text(index)?)
    }

    pub(super) fn bytes(&self, index: usize) -> Result<Bytes, Failure> {
        bytes(self.text(index)?)
    }

    /// The block at this place, or the latest.
    pub(super) fn tag(&self, index: usize) -> Result<Tag, Failure> {
        self.get(index).map_or(Ok(Tag::Latest), tag)
    }
}

/// With the prefix that JSON-RPC demands.
fn prefixed(text: &str) -> Result<&str, Failure> {
    if text.starts_with("0x") {
        Ok(text)
    } else {
        Err(Failure::invalid(format!("hex string without 0x prefix: {}", shortened(text))))
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}

pub(super) fn address(text: &str) -> Result<Address, Failure> {
    prefixed(text)?
        .parse()
        .map_err(|_| Failure::invalid(format!("not an address: {}", shortened(text))))
}

pub(super) fn hash(text: &str) -> Result<B256, Failure> {
    prefixed(text)?
        .parse()
        .map_err(|_| Failure::invalid(format!("not 32 bytes: {}", shortened(text))))
}

pub(super) fn bytes(text: &str) -> Result<Bytes, Failure> {
    prefixed(text)?
        .parse()
        .map_err(|_| Failure::invalid(format!("not hexadecimal: {}", shortened(text))))
}

pub(super) fn number(value: &Value) -> Result<U256, Failure> {
    let wrong = || Failure::invalid("not a quantity: write it as 0x and digits");
    let digits = value.as_str().and_then(|text| text.strip_prefix("0x")).ok_or_else(wrong)?;
    if digits.is_empty() {
        return Err(wrong());
    }
    U256::from_str_radix(digits, 16).map_err(|_| wrong())
}

pub(super) fn tag(value: &Value) -> Result<Tag, Failure> {
    if let Some(map) = value.as_object() {
        // EIP-1898.
        return match (map.get("blockHash").and_then(Value::as_str), map.get("blockNumber")) {
            (Some(text), None) => hash(text).map(Tag::Hash),
            (None, Some(inner)) => tag(inner),
            (Some(_), Some(_)) | (None, None) => {
                Err(Failure::invalid("a block is named by blockHash or by blockNumber"))
            }
        };
    }
    match value.as_str() {
        Some("latest") => Ok(Tag::Latest),
        Some("pending") => Ok(Tag::Pending),
        Some("safe") => Ok(Tag::Safe),
        Some("finalized") => Ok(Tag::Finalized),
        Some("earliest") => Ok(Tag::Earliest),
        Some(text) if text.len() == 66 => hash(text).map(Tag::Hash),
        Some(_) | None => {
            let number = number(value)?;
            u64::try_from(number)
                .map(Tag::Number)
                .map_err(|_| Failure::invalid("block number larger than int64"))
        }
    }
}
