//! Proof that a payment moved or cannot move: the block that used its nonce.
//!
//! A node that is behind, or keeps no logs, omits what it does not have, so a missing event
//! proves nothing. The state of a nonce is therefore read at a block hash, which fails on a node
//! without that block. The block that used the nonce is the one in which it is used and in whose
//! parent it is not.

use std::fmt;

use alloy_primitives::U256;
use order::model::chain::EvmAddress;
use order::model::evidence::BlockTag;
use order::model::payment::Finality;
use order::ports::Failure;

use crate::rpc::{BlockHead, BlockId, Node, NodeError};

/// A single-use nonce of a contract, and the call that reads its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContractNonce {
    pub contract: EvmAddress,
    /// Call data; the result is one 32-byte word.
    pub call_data: Vec<u8>,
    /// The bits of that word that mean used.
    pub bit: U256,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NonceState {
    Unused,
    Used,
}

/// Whether and where a nonce was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NonceUse {
    /// Unused in the latest block, and so in every earlier one.
    Unused,
    /// This is the block that used it.
    UsedIn(BlockHead),
}

impl ContractNonce {
    pub async fn state(&self, node: &Node, at: BlockId) -> Result<NonceState, NodeError> {
        self.read(&node.call(self.contract, &self.call_data, at).await?)
    }

    /// Parses the result of the call.
    pub fn read(&self, said: &[u8]) -> Result<NonceState, NodeError> {
        // A call to an account without code returns no bytes.
        let word: [u8; 32] = said.try_into().map_err(|_| NodeError::Unusable)?;
        let marked = U256::from_be_bytes(word) & self.bit;
        Ok(if marked.is_zero() { NonceState::Unused } else { NonceState::Used })
    }

    /// Finds the block that used it. `since` is a block in which it was probably unused; it only
    /// shortens the search.
    pub async fn find_use(
        &self,
        node: &Node,
        heads: &ChainHeads,
        since: Option<u64>,
    ) -> Result<NonceUse, ProofError> {
        // Used nonces stay used. Unused now means unused in every earlier block, so the state of
        // the finalized block is not needed.
        match self.state(node, BlockId::Hash(heads.latest.hash)).await? {
            NonceState::Unused => return Ok(NonceUse::Unused),
            NonceState::Used => {}
        }
        let number = self.find_block(node, heads.latest.number, since).await?;
        let block = node.block(BlockId::Number(number)).await?;
        let before = self.state(node, BlockId::Hash(block.parent)).await?;
        let behind = self.state(node, BlockId::Hash(block.hash)).await?;
        match (before, behind) {
            (NonceState::Unused, NonceState::Used) => Ok(NonceUse::UsedIn(block)),
            (NonceState::Used, _) | (NonceState::Unused, NonceState::Unused) => {
                Err(ProofError::Contradiction)
            }
        }
    }

    /// Searches backwards in doubling steps for a block in which it was unused, then bisects. The
    /// caller verifies the result: the chain may change meanwhile, and nodes may contradict each
    /// other.
    async fn find_block(
        &self,
        node: &Node,
        latest: u64,
        since: Option<u64>,
    ) -> Result<u64, ProofError> {
        let (mut used, mut step) = (latest, 1_u64);
        let mut unused = loop {
            let far = latest.saturating_sub(step);
            let earlier = since.filter(|since| (far..used).contains(since)).unwrap_or(far);
            match self.state_or_unused(node, earlier).await? {
                NonceState::Unused => break earlier,
                NonceState::Used if earlier == 0 => return Err(ProofError::Contradiction),
                NonceState::Used => (used, step) = (earlier, step.saturating_mul(2)),
            }
        };
        while used.saturating_sub(unused) > 1 {
            let middle = unused.midpoint(used);
            match self.state_or_unused(node, middle).await? {
                NonceState::Unused => unused = middle,
                NonceState::Used => used = middle,
            }
        }
        Ok(used)
    }

    /// A state that the node has pruned counts as unused, so that the search stays within the
    /// kept states.
    async fn state_or_unused(&self, node: &Node, number: u64) -> Result<NonceState, NodeError> {
        match self.state(node, BlockId::Number(number)).await {
            Err(NodeError::Refused(_)) => Ok(NonceState::Unused),
            state => state,
        }
    }
}

/// The latest and the finalized block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainHeads {
    pub latest: BlockHead,
    pub finalized: BlockHead,
}

impl ChainHeads {
    pub async fn of(node: &Node) -> Result<Self, NodeError> {
        let finalized = node.block(BlockId::Tag(BlockTag::Finalized)).await?;
        Self::beyond(node, finalized).await
    }

    /// The latest block is read after the finalized one, so it is not older.
    pub async fn beyond(node: &Node, finalized: BlockHead) -> Result<Self, NodeError> {
        let latest = node.block(BlockId::Tag(BlockTag::Latest)).await?;
        if latest.number < finalized.number {
            return Err(NodeError::Unusable);
        }
        Ok(Self { latest, finalized })
    }

    /// Whether all blocks up to this second are final.
    pub const fn is_past(&self, second: u64) -> bool {
        self.finalized.timestamp > second
    }

    pub const fn finality(&self, block: u64) -> Finality {
        if block <= self.finalized.number { Finality::Final } else { Finality::Provisional }
    }
}

/// Why the state of a payment is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProofError {
    /// A node call failed; the next one may succeed.
    Node(NodeError),
    /// The states of two blocks contradict each other: the chain changed meanwhile, or the node
    /// has pruned the block that used the nonce.
    Contradiction,
    /// The nonce was used by a transaction that we did not request.
    Unclear,
    /// The nonce is used, and its block has no event that explains it.
    Unexplained,
}

impl From<NodeError> for ProofError {
    fn from(why: NodeError) -> Self {
        Self::Node(why)
    }
}

impl fmt::Display for ProofError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(why) => write!(f, "node: {why}"),
            Self::Contradiction => f.write_str(
                "the nonce is used, and the node's answers about where contradict each other",
            ),
            Self::Unclear => f.write_str(
                "a transaction spent this authorization in another way than was asked; look at the chain",
            ),
            Self::Unexplained => {
                f.write_str("the nonce is used, and no event says by what; look at the chain")
            }
        }
    }
}

/// A failed proof proves nothing.
impl From<ProofError> for Failure {
    fn from(doubt: ProofError) -> Self {
        Self::Lost(doubt.to_string())
    }
}

#[cfg(test)]
mod tests {
    use alloy_primitives::B256;

    use super::*;

    #[test]
    fn a_deadline_is_past_only_after_the_finalized_block() {
        let (hash, parent) = (B256::ZERO, B256::ZERO);
        let head = |number, timestamp| BlockHead { number, hash, parent, timestamp };
        let heads = ChainHeads { latest: head(20, 500), finalized: head(10, 400) };
        assert!(heads.is_past(399) && !heads.is_past(400) && !heads.is_past(450));
        assert_eq!(heads.finality(10), Finality::Final);
        assert_eq!(heads.finality(11), Finality::Provisional);
    }
}
