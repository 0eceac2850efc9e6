//! The final blocks of a period, by their timestamps.

use alloy_primitives::B256;
use order::model::evidence::BlockTag;
use order::model::ids::Timestamp;

use super::error::TransfersError;
use crate::rpc::{BlockHead, BlockId, Node, NodeError};

/// Consecutive blocks, and the seconds that they are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PeriodBlocks {
    pub(super) first: u64,
    pub(super) last: u64,
    from: Timestamp,
    until: Timestamp,
}

impl PeriodBlocks {
    pub(super) fn covers(&self, at: Timestamp) -> bool {
        self.from <= at && at < self.until
    }
}

/// The final blocks from `from` (inclusive) to `until` (exclusive). None if there are none.
pub(super) async fn final_blocks(
    node: &Node,
    from: Timestamp,
    until: Timestamp,
) -> Result<Option<PeriodBlocks>, TransfersError> {
    let finalized = node.block(BlockId::Tag(BlockTag::Finalized)).await?;
    if finalized.timestamp < from.0 || until <= from {
        return Ok(None);
    }
    let first = first_since(node, from, finalized).await?;
    let end = if finalized.timestamp < until.0 {
        finalized.number.saturating_add(1)
    } else {
        first_since(node, until, finalized).await?
    };
    Ok((first < end).then(|| PeriodBlocks { first, last: end - 1, from, until }))
}

/// The first block of this second or later. The finalized one is.
async fn first_since(
    node: &Node,
    second: Timestamp,
    finalized: BlockHead,
) -> Result<u64, TransfersError> {
    let (mut low, mut found) = (0, finalized);
    // Whether the block before `low` is known to be earlier.
    let mut is_earlier = true;
    while low < found.number {
        let middle = low.midpoint(found.number);
        match block_at(node, middle).await {
            Ok(block) if block.timestamp >= second.0 => found = block,
            Ok(_) => (low, is_earlier) = (middle + 1, true),
            // A pruned block may belong to the period. Whether one does is decided at the end.
            Err(NodeError::UnknownBlock | NodeError::Refused(_)) => {
                (low, is_earlier) = (middle + 1, false);
            }
            Err(why) => return Err(why.into()),
        }
    }
    // Nothing is before the first block of the chain.
    if is_earlier || found.parent == B256::ZERO {
        Ok(found.number)
    } else {
        Err(TransfersError::Pruned)
    }
}

/// The canonical block at this height.
pub(super) async fn block_at(node: &Node, number: u64) -> Result<BlockHead, NodeError> {
    let block = node.block(BlockId::Number(number)).await?;
    if block.number == number { Ok(block) } else { Err(NodeError::Unusable) }
}
