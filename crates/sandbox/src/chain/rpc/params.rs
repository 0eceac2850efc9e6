//! The parameters of a JSON-RPC call, read strictly.

use alloy_primitives::{Address, B256, Bytes, U256};
use serde_json::Value;

use crate::chain::rpc::failure::RpcError;

pub(crate) struct RpcParams<'a>(&'a [Value]);

/// The block that a parameter refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RpcBlockTag {
    Latest,
    Pending,
    Safe,
    Finalized,
    Earliest,
    Number(u64),
    Hash(B256),
}

impl<'a> RpcParams<'a> {
    pub(crate) fn new(params: &'a Value) -> Result<Self, RpcError> {
        match params {
            Value::Null => Ok(Self(&[])),
            Value::Array(list) => Ok(Self(list)),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                Err(RpcError::invalid("non-array args"))
            }
        }
    }

    pub(crate) fn get(&self, index: usize) -> Option<&'a Value> {
        self.0.get(index).filter(|value| !value.is_null())
    }

    fn text(&self, index: usize) -> Result<&'a str, RpcError> {
        self.get(index).and_then(Value::as_str).ok_or_else(|| {
            RpcError::invalid(format!("missing value for required argument {index}"))
        })
    }

    pub(crate) fn address(&self, index: usize) -> Result<Address, RpcError> {
        address(self.text(index)?)
    }

    pub(crate) fn hash(&self, index: usize) -> Result<B256, RpcError> {
        hash(self.text(index)?)
    }

    pub(crate) fn bytes(&self, index: usize) -> Result<Bytes, RpcError> {
        bytes(self.text(index)?)
    }

    /// The block parameter at this index, or the latest block.
    pub(crate) fn tag(&self, index: usize) -> Result<RpcBlockTag, RpcError> {
        self.get(index).map_or(Ok(RpcBlockTag::Latest), tag)
    }
}

/// With the 0x prefix that JSON-RPC requires.
fn prefixed(text: &str) -> Result<&str, RpcError> {
    if text.starts_with("0x") {
        Ok(text)
    } else {
        Err(RpcError::invalid(format!("hex string without 0x prefix: {}", shortened(text))))
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}

pub(crate) fn address(text: &str) -> Result<Address, RpcError> {
    prefixed(text)?
        .parse()
        .map_err(|_| RpcError::invalid(format!("not an address: {}", shortened(text))))
}

pub(crate) fn hash(text: &str) -> Result<B256, RpcError> {
    prefixed(text)?
        .parse()
        .map_err(|_| RpcError::invalid(format!("not 32 bytes: {}", shortened(text))))
}

pub(crate) fn bytes(text: &str) -> Result<Bytes, RpcError> {
    prefixed(text)?
        .parse()
        .map_err(|_| RpcError::invalid(format!("not hexadecimal: {}", shortened(text))))
}

pub(crate) fn number(value: &Value) -> Result<U256, RpcError> {
    let wrong = || RpcError::invalid("not a quantity: write it as 0x and digits");
    let digits = value.as_str().and_then(|text| text.strip_prefix("0x")).ok_or_else(wrong)?;
    if digits.is_empty() {
        return Err(wrong());
    }
    U256::from_str_radix(digits, 16).map_err(|_| wrong())
}

pub(crate) fn tag(value: &Value) -> Result<RpcBlockTag, RpcError> {
    if let Some(map) = value.as_object() {
        // EIP-1898.
        return match (map.get("blockHash").and_then(Value::as_str), map.get("blockNumber")) {
            (Some(text), None) => hash(text).map(RpcBlockTag::Hash),
            (None, Some(inner)) => tag(inner),
            (Some(_), Some(_)) | (None, None) => {
                Err(RpcError::invalid("a block is named by blockHash or by blockNumber"))
            }
        };
    }
    match value.as_str() {
        Some("latest") => Ok(RpcBlockTag::Latest),
        Some("pending") => Ok(RpcBlockTag::Pending),
        Some("safe") => Ok(RpcBlockTag::Safe),
        Some("finalized") => Ok(RpcBlockTag::Finalized),
        Some("earliest") => Ok(RpcBlockTag::Earliest),
        Some(text) if text.len() == 66 => hash(text).map(RpcBlockTag::Hash),
        Some(_) | None => {
            let number = number(value)?;
            u64::try_from(number)
                .map(RpcBlockTag::Number)
                .map_err(|_| RpcError::invalid("block number larger than int64"))
        }
    }
}
