//! Why transfers cannot be read.

use std::fmt;

use order::ports::Failure;

use crate::rpc::NodeError;

/// Why transfers cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TransfersError {
    Node(NodeError),
    /// The node does not have all blocks of the period.
    Pruned,
    /// Not 32 bytes.
    Hash,
}

impl From<NodeError> for TransfersError {
    fn from(why: NodeError) -> Self {
        Self::Node(why)
    }
}

impl fmt::Display for TransfersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(why) => write!(f, "node: {why}"),
            Self::Pruned => f.write_str("the node does not have all blocks of the period"),
            Self::Hash => f.write_str("not a transaction hash"),
        }
    }
}

/// What a node did not show may still have happened.
impl From<TransfersError> for Failure {
    fn from(why: TransfersError) -> Self {
        Self::Lost(why.to_string())
    }
}
