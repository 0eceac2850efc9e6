//! The checks of one node, whatever it is used for.

use adapters::rpc::{BlockHead, BlockId, LogFilter, Node, NodeError};
use order::model::chain::EvmAddress;
use order::model::evidence::BlockTag;
use order::ports::Clock;

use super::report::LiveCheck;

const LATEST: BlockId = BlockId::Tag(BlockTag::Latest);
/// Rollups finalize within half an hour; this is twice as long.
const FINALIZED_SECONDS_MAX: u64 = 60 * 60;
const SKEW_SECONDS_MAX: u64 = 60;

/// A node and what the checks of it are called.
pub(super) struct CheckedNode<'a> {
    pub(super) node: Node,
    /// The host of its URL; the rest may hold a key.
    pub(super) host: String,
    /// The network's name in the report.
    pub(super) name: String,
    /// The setting that names it.
    pub(super) setting: &'static str,
    pub(super) clock: &'a dyn Clock,
}

impl CheckedNode<'_> {
    fn subject(&self, what: &str) -> String {
        format!("{}: {what}", self.name)
    }

    /// Whether it answers for its chain. Without the latest block nothing else can be checked.
    pub(super) async fn reach(&self, checks: &mut Vec<LiveCheck>) -> Option<BlockHead> {
        let (subject, host, id) = (self.subject("node"), &self.host, self.node.chain_id());
        match self.node.block(LATEST).await {
            Ok(head) => {
                let found = format!("{host} answers for chain {id}, block {}", head.number);
                checks.push(LiveCheck::ok(subject, found));
                return Some(head);
            }
            Err(NodeError::OtherChain(other)) => checks.push(LiveCheck::fail(
                subject,
                format!("{host} is a node of chain {other}, not of {id}"),
                format!("Set a node of chain {id} in {}.", self.setting),
            )),
            Err(why) => checks.push(LiveCheck::fail(
                subject,
                format!("{host} has no usable answer: {why}"),
                format!("Check {} and whether this machine reaches the node.", self.setting),
            )),
        }
        let reason = "the node has no usable answer";
        checks.push(LiveCheck::skip(self.subject("all else"), reason));
        None
    }

    pub(super) fn clock(&self, head: &BlockHead) -> LiveCheck {
        let (subject, now) = (self.subject("clock"), self.clock.now().0);
        let skew = now.abs_diff(head.timestamp);
        let relation = if now < head.timestamp { "behind" } else { "ahead of" };
        let found = format!("this machine's clock is {skew} s {relation} the newest block");
        if skew <= SKEW_SECONDS_MAX {
            return LiveCheck::ok(subject, found);
        }
        let remedy = "Synchronise the clock by NTP. If it is right, the node is behind.";
        LiveCheck::warn(subject, found, remedy)
    }

    pub(super) async fn finalized(&self) -> LiveCheck {
        let subject = self.subject("finalized block");
        let head = match self.node.block(BlockId::Tag(BlockTag::Finalized)).await {
            Ok(head) => head,
            Err(why) => {
                let found = format!("{} does not name it: {why}", self.host);
                return LiveCheck::fail(subject, found, self.other_node("the tag `finalized`"));
            }
        };
        let age = self.clock.now().0.saturating_sub(head.timestamp);
        let found = format!("block {}, {age} s old", head.number);
        if age <= FINALIZED_SECONDS_MAX {
            return LiveCheck::ok(subject, found);
        }
        let remedy = "Refunds and final payments wait for it. Check whether the node is in sync.";
        LiveCheck::warn(subject, found, remedy)
    }

    /// Proofs of payments read states at a block hash (EIP-1898).
    pub(super) async fn state(&self, head: &BlockHead, contract: EvmAddress) -> LiveCheck {
        let (subject, at) = (self.subject("state by block hash"), BlockId::Hash(head.hash));
        let called = match self.node.call(contract, &DECIMALS, at).await {
            // What a contract answers is not the question.
            Ok(_) | Err(NodeError::Reverted(_)) => self.node.code(contract, at).await,
            Err(why) => Err(why),
        };
        match called {
            Ok(_) => LiveCheck::ok(subject, "eth_call and eth_getCode answer"),
            Err(why) => LiveCheck::fail(
                subject,
                format!("{} does not answer: {why}", self.host),
                self.other_node("block hashes in eth_call and eth_getCode (EIP-1898)"),
            ),
        }
    }

    pub(super) async fn logs(&self, head: &BlockHead, contract: EvmAddress) -> LiveCheck {
        let subject = self.subject("logs by block hash");
        let (block, contracts, topics) = (head.hash, vec![contract], Vec::new());
        match self.node.logs(&LogFilter { block, contracts, topics }).await {
            Ok(_) => LiveCheck::ok(subject, "eth_getLogs answers"),
            Err(why) => LiveCheck::fail(
                subject,
                format!("{} does not answer: {why}", self.host),
                self.other_node("`blockHash` in eth_getLogs"),
            ),
        }
    }

    pub(super) async fn contract(&self, what: &str, contract: EvmAddress) -> LiveCheck {
        let subject = self.subject(&format!("code of {what}"));
        match self.node.code(contract, LATEST).await {
            Ok(code) if !code.is_empty() => LiveCheck::ok(subject, format!("at {contract}")),
            Ok(_) => LiveCheck::fail(
                subject,
                format!("{} has no code at {contract}", self.host),
                format!("Set a synchronised node of this network in {}.", self.setting),
            ),
            Err(why) => LiveCheck::fail(
                subject,
                format!("{} does not answer: {why}", self.host),
                format!("Check the node in {}.", self.setting),
            ),
        }
    }

    fn other_node(&self, need: &str) -> String {
        format!("Set a node in {} that supports {need}.", self.setting)
    }
}

/// The call data of `decimals()`.
const DECIMALS: [u8; 4] = [0x31, 0x3c, 0xe5, 0x67];
