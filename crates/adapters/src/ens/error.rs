//! Why a lookup failed. The texts are for the log.

use std::fmt;

use order::ports::Failure;

use crate::http::CallError;
use crate::rpc::NodeError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LookupError {
    Node(NodeError),
    /// Two nodes differ about the same block.
    Disagreement,
    /// A contract's answer cannot be decoded.
    Unusable,
    /// A contract reverted with an unknown error.
    Reverted,
    /// The resolver requests too many off-chain lookups.
    TooManyLookups,
    /// The resolver names a gateway that is not allowed.
    GatewayNotAllowed,
    GatewayRefused,
    /// The contract rejected the gateway's answer: forged, or too old.
    GatewayRejected,
    Gateway(CallError),
    TimedOut,
    /// Too many unknown names are being looked up.
    Busy,
}

impl fmt::Display for LookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Node(why) => return write!(f, "node: {why}"),
            Self::Gateway(why) => return write!(f, "gateway: {why}"),
            Self::Disagreement => "the nodes disagree",
            Self::Unusable => "the contract's answer is unusable",
            Self::Reverted => "the contract reverted",
            Self::TooManyLookups => "too many lookups outside of the chain",
            Self::GatewayNotAllowed => "the gateway is not allowed",
            Self::GatewayRefused => "the gateway refused",
            Self::GatewayRejected => "the contract rejected the gateway's answer",
            Self::TimedOut => "no answer in time",
            Self::Busy => "too many names at once",
        })
    }
}

impl From<NodeError> for LookupError {
    fn from(why: NodeError) -> Self {
        Self::Node(why)
    }
}

/// A lookup that was not started is refused. Any other failure proves nothing.
impl From<LookupError> for Failure {
    fn from(error: LookupError) -> Self {
        let words = error.to_string();
        if error == LookupError::Busy { Self::Refused(words) } else { Self::Lost(words) }
    }
}
