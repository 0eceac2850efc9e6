//! One chain as the settler uses it: numbers, fees, signing, sending and receipts,
//! whatever the transactions are for.
//!
//! `ready` signs, `carry` sends and waits, `look` finds out what became of it, and
//! `mend` keeps the queue moving.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use order::chain::{EvmAddress, Network};
use order::evidence::BlockTag;
use order::ports::Clock;

mod carry;
mod look;
mod mend;
mod purse;
mod ready;

pub(super) use carry::{Unpaid, Whose};
pub(super) use look::{Paid, Seen};
pub(super) use ready::Unready;

use super::Limits;
use super::fees::Quote;
use super::queue::{Counts, ErrandId, Queue};
use super::transaction::Signer;
use crate::nonce::Horizon;
use crate::rpc::{At, Head, NoAnswer, Node};
use purse::Purse;

pub(super) const LATEST: At = At::Tag(BlockTag::Latest);

/// What nodes answer that do not know a tag, or have no block for it yet.
const TAG_UNKNOWN: [i64; 4] = [-32602, -32601, -32000, -39001];

/// One account on one chain.
pub(super) struct Lane {
    pub(super) node: Node,
    network: Network,
    limits: Limits,
    signer: Arc<Signer>,
    clock: Arc<dyn Clock>,
    receipt_seconds: u64,
    queue: Queue,
    purse: Mutex<Purse>,
    /// Its node has once told us the finalized block. From then on nothing less counts:
    /// the code for a tag that nobody knows is also that of many a passing trouble.
    tells_final: AtomicBool,
}

/// A call that is to be made in a block.
pub(super) struct Errand {
    pub(super) id: ErrandId,
    pub(super) to: EvmAddress,
    pub(super) data: Vec<u8>,
}

impl Lane {
    pub(super) fn new(
        network: Network,
        (node, limits): (Node, Limits),
        signer: Arc<Signer>,
        clock: Arc<dyn Clock>,
        receipt_seconds: u64,
    ) -> Self {
        let (queue, purse, tells_final) = Default::default();
        Self { node, network, limits, signer, clock, receipt_seconds, queue, purse, tells_final }
    }

    pub(super) fn address(&self) -> EvmAddress {
        self.signer.address()
    }

    /// The latest block that no reorganisation can take back. A node that does not
    /// know the tag is asked for a weaker one, and at last for an old block.
    pub(super) async fn settled_head(&self) -> Result<Head, NoAnswer> {
        for tag in [BlockTag::Finalized, BlockTag::Safe] {
            match self.node.block(At::Tag(tag)).await {
                Ok(head) => {
                    if tag == BlockTag::Finalized {
                        self.tells_final.store(true, Ordering::Relaxed);
                    }
                    return Ok(head);
                }
                Err(why) if self.tells_final.load(Ordering::Relaxed) => return Err(why),
                Err(NoAnswer::UnknownBlock) => {}
                Err(NoAnswer::Refused(code)) if TAG_UNKNOWN.contains(&code) => {}
                Err(why) => return Err(why),
            }
        }
        let latest = self.node.block(LATEST).await?;
        let old = latest.number.saturating_sub(self.limits.confirmations);
        self.node.block(At::Number(old)).await
    }

    /// How far the chain has come behind that block.
    pub(super) async fn horizon(&self) -> Result<Horizon, NoAnswer> {
        Horizon::beyond(&self.node, self.settled_head().await?).await
    }

    async fn counts(&self) -> Result<Counts, NoAnswer> {
        let own = self.address();
        let (mined, pooled) =
            tokio::try_join!(self.node.mined_count(own), self.node.pooled_count(own))?;
        Ok(Counts { mined, pooled })
    }

    async fn quote(&self) -> Result<Quote, NoAnswer> {
        let quote = Quote::of(&self.node.fee_history().await?);
        // Recent blocks may have been empty, and some chains take nobody without a tip.
        let tip = if quote.tip == 0 { self.node.tip().await? } else { quote.tip };
        Ok(Quote { tip, ..quote })
    }
}
