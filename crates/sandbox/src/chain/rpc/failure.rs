//! A JSON-RPC error.

use serde_json::Value;

use crate::chain::contracts::env::Revert;
use crate::chain::rpc::shape::{self, hex};

/// A JSON-RPC error with the codes and messages of real nodes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
}

impl RpcError {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(-32602, message)
    }

    /// A server error (-32000).
    pub(crate) fn server(message: impl Into<String>) -> Self {
        Self::new(-32000, message)
    }

    pub(crate) fn reverted(revert: &Revert) -> Self {
        let words = shape::reason(&revert.0);
        let message = words.map_or_else(
            || "execution reverted".to_owned(),
            |words| format!("execution reverted: {words}"),
        );
        Self { code: 3, message, data: Some(hex(&revert.0)) }
    }
}

pub(crate) type RpcResult = Result<Value, RpcError>;
