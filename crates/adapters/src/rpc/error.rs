//! Why a call to a node has no result.

use std::fmt;

use alloy_primitives::Bytes;

use crate::http::CallError;

/// Why a call has no result. Only `Node::send` has an effect; every other call may be repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeError {
    Http(CallError),
    /// The contract reverted with these bytes.
    Reverted(Bytes),
    /// The call takes more gas than it may use.
    OutOfGas,
    /// The node returned this error code.
    Refused(i64),
    /// The result cannot be parsed or does not match the request.
    Unusable,
    /// The node does not have the block.
    UnknownBlock,
    /// The node is of another chain.
    OtherChain(u64),
}

impl fmt::Display for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http(error) => write!(f, "{error}"),
            Self::Reverted(_) => f.write_str("the call was reverted"),
            Self::OutOfGas => f.write_str("the call takes too much gas"),
            Self::Refused(code) => write!(f, "error {code}"),
            Self::Unusable => f.write_str("an unusable result"),
            Self::UnknownBlock => f.write_str("no such block"),
            Self::OtherChain(id) => write!(f, "a node of chain {id}"),
        }
    }
}
