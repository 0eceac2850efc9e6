//! A nonce that a contract lets be used once, and the block in which that happened.
//!
//! A node that is behind is silent about what it has not seen, and so is one that keeps
//! no events. So nothing is concluded from silence: whether a nonce is used is read at
//! the hash of a block, which a node that does not have it cannot answer, and the block
//! that used it is the one whose own state says used while its parent's says unused.

use std::fmt;

use alloy_primitives::U256;
use order::model::chain::{EvmAddress, Network};
use order::model::evidence::BlockTag;
use order::model::payment::Finality;
use order::ports::Failure;

use crate::rpc::{At, Head, NoAnswer, Node};

/// A nonce, as the contract that keeps it is asked about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nonce {
    pub contract: EvmAddress,
    /// A call that answers with one word.
    pub question: Vec<u8>,
    /// What of that word says that the nonce is used.
    pub bit: U256,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Unused,
    Used,
}

/// What a chain knows of a nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// In the latest block and in every one before it.
    Unused,
    /// This is the block that used it.
    UsedIn(Head),
}

impl Nonce {
    pub async fn state(&self, node: &Node, at: At) -> Result<State, NoAnswer> {
        self.read(&node.call(self.contract, &self.question, at).await?)
    }

    /// What an answer to the question says.
    pub fn read(&self, said: &[u8]) -> Result<State, NoAnswer> {
        // Where there is no such contract, a call answers with nothing.
        let word: [u8; 32] = said.try_into().map_err(|_| NoAnswer::Unusable)?;
        let marked = U256::from_be_bytes(word) & self.bit;
        Ok(if marked.is_zero() { State::Unused } else { State::Used })
    }

    /// Finds out whether and where it was used. `since` is a block in which it was
    /// probably unused still; it only makes the search shorter.
    pub async fn fate(
        &self,
        node: &Node,
        horizon: &Horizon,
        since: Option<u64>,
    ) -> Result<Fate, Doubt> {
        // Used nonces stay used. Unused now is unused in every block before, so
        // nobody needs to remember the state of the finalized block.
        match self.state(node, At::Hash(horizon.latest.hash)).await? {
            State::Unused => return Ok(Fate::Unused),
            State::Used => {}
        }
        let number = self.guess(node, horizon.latest.number, since).await?;
        let block = node.block(At::Number(number)).await?;
        let before = self.state(node, At::Hash(block.parent)).await?;
        let behind = self.state(node, At::Hash(block.hash)).await?;
        match (before, behind) {
            (State::Unused, State::Used) => Ok(Fate::UsedIn(block)),
            (State::Used, _) | (State::Unused, State::Unused) => Err(Doubt::Contradiction),
        }
    }

    /// Goes back in ever longer steps to a block in which it was unused, and halves
    /// what lies between. The answer is a guess, and is held against the two blocks
    /// by whoever asked: here the chain may change, and nodes may contradict.
    async fn guess(&self, node: &Node, latest: u64, since: Option<u64>) -> Result<u64, Doubt> {
        let (mut used, mut step) = (latest, 1_u64);
        let mut unused = loop {
            let far = latest.saturating_sub(step);
            let earlier = since.filter(|since| (far..used).contains(since)).unwrap_or(far);
            match self.remembered(node, earlier).await? {
                State::Unused => break earlier,
                State::Used if earlier == 0 => return Err(Doubt::Contradiction),
                State::Used => (used, step) = (earlier, step.saturating_mul(2)),
            }
        };
        while used.saturating_sub(unused) > 1 {
            let middle = unused.midpoint(used);
            match self.remembered(node, middle).await? {
                State::Unused => unused = middle,
                State::Used => used = middle,
            }
        }
        Ok(used)
    }

    /// A state that the node has forgotten is taken for one before the use, so that
    /// the search stays within what it remembers.
    async fn remembered(&self, node: &Node, number: u64) -> Result<State, NoAnswer> {
        match self.state(node, At::Number(number)).await {
            Err(NoAnswer::Refused(_)) => Ok(State::Unused),
            state => state,
        }
    }
}

/// How far a chain has come, and how much of it stands for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Horizon {
    pub latest: Head,
    pub finalized: Head,
}

impl Horizon {
    pub async fn of(node: &Node) -> Result<Self, NoAnswer> {
        let finalized = node.block(At::Tag(BlockTag::Finalized)).await?;
        Self::beyond(node, finalized).await
    }

    /// The latest block is read after the one that stands for good, and stands on it.
    pub async fn beyond(node: &Node, finalized: Head) -> Result<Self, NoAnswer> {
        let latest = node.block(At::Tag(BlockTag::Latest)).await?;
        if latest.number < finalized.number {
            return Err(NoAnswer::Unusable);
        }
        Ok(Self { latest, finalized })
    }

    /// Whether every block of this second or an earlier one stands for good.
    pub const fn is_past(&self, second: u64) -> bool {
        self.finalized.timestamp > second
    }

    pub const fn finality(&self, block: u64) -> Finality {
        if block <= self.finalized.number { Finality::Final } else { Finality::Provisional }
    }
}

/// Why nothing can be said about a movement of money.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// A node gave no good answer; the next look may.
    Node(NoAnswer),
    /// What was said of two blocks does not fit: the chain changed while we looked, or
    /// the node has forgotten the block that used the nonce.
    Contradiction,
    /// Something was done with this promise that nobody asked for.
    Unclear,
    /// The nonce is used, and the block that used it shows nothing that did.
    Unexplained,
}

impl From<NoAnswer> for Doubt {
    fn from(why: NoAnswer) -> Self {
        Self::Node(why)
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(why) => write!(f, "a node said: {why}"),
            Self::Contradiction => f.write_str(
                "the nonce is used, and the node's answers about where contradict each other",
            ),
            Self::Unclear => f.write_str(
                "a transaction spent this promise in another way than was asked; look at the chain",
            ),
            Self::Unexplained => {
                f.write_str("the nonce is used, and no event says by what; look at the chain")
            }
        }
    }
}

impl Doubt {
    /// For the log and for whoever asked.
    pub(crate) fn told(self, network: Network) -> Failure {
        tracing::warn!(%network, kind = %self, "What became of a payment is not known");
        self.into()
    }
}

/// A question, and yet nobody should conclude anything from its failure.
impl From<Doubt> for Failure {
    fn from(doubt: Doubt) -> Self {
        Self::Lost(doubt.to_string())
    }
}

#[cfg(test)]
mod tests {
    use alloy_primitives::B256;

    use super::*;

    #[test]
    fn a_deadline_is_past_only_behind_the_finalized_block() {
        let (hash, parent) = (B256::ZERO, B256::ZERO);
        let head = |number, timestamp| Head { number, hash, parent, timestamp };
        let horizon = Horizon { latest: head(20, 500), finalized: head(10, 400) };
        assert!(horizon.is_past(399) && !horizon.is_past(400) && !horizon.is_past(450));
        assert_eq!(horizon.finality(10), Finality::Final);
        assert_eq!(horizon.finality(11), Finality::Provisional);
    }
}
