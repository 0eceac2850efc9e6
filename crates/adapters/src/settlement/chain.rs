//! One chain as the settler reads it: which blocks stay, and what a transaction did in its block.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use alloy_primitives::B256;
use order::model::chain::EvmAddress;
use order::model::evidence::BlockTag;
use order::model::ids::Timestamp;
use order::model::payment::Finality;
use pay::movement::Moved;
use tokio::time::Instant;

use super::fees::{GasTerms, Quote};
use super::outbox::SentTransactions;
use crate::nonce::Horizon;
use crate::rpc::{At, Head, NoAnswer, Node, Outcome, Receipt};

pub(super) const LATEST: At = At::Tag(BlockTag::Latest);

/// What nodes answer that do not know a tag, or have no block for it yet.
const TAG_UNKNOWN: [i64; 4] = [-32602, -32601, -32000, -39001];

/// Whether a successful receipt shows the payment that is looked for.
pub(super) type Paid<'a> = dyn Fn(&Receipt) -> bool + Sync + 'a;

/// A node, and what is known of it.
pub(super) struct Chain {
    pub(super) node: Node,
    /// How old a block is that stays, where the node knows no final ones.
    confirmations: u64,
    /// The node has once told us the finalized block. From then on nothing less counts:
    /// the code for an unknown tag is also that of many a temporary failure.
    tells_final: AtomicBool,
    /// The gas terms that were asked for last, and when.
    terms: Mutex<Option<(Instant, EvmAddress, GasTerms)>>,
}

/// What the receipts of all transactions of one payment say together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// Some nonce has no receipt.
    Nothing,
    Paid(Moved),
    /// Under every nonce one transaction is in a block and failed there.
    Failed(Finality),
}

impl Chain {
    pub(super) fn new(node: Node, confirmations: u64) -> Self {
        let (tells_final, terms) = (AtomicBool::new(false), Mutex::new(None));
        Self { node, confirmations, tells_final, terms }
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
        let old = latest.number.saturating_sub(self.confirmations);
        self.node.block(At::Number(old)).await
    }

    /// How far the chain has come behind that block.
    pub(super) async fn horizon(&self) -> Result<Horizon, NoAnswer> {
        Horizon::beyond(&self.node, self.settled_head().await?).await
    }

    /// Fees, and the balance of our account: from memory if they are no older than this.
    pub(super) async fn terms(
        &self,
        own: EvmAddress,
        age_most: Duration,
    ) -> Result<GasTerms, NoAnswer> {
        let known = self.terms.lock().ok().and_then(|known| *known);
        if let Some((at, of, terms)) = known
            && of == own
            && at.elapsed() < age_most
        {
            return Ok(terms);
        }
        let (quote, balance) = tokio::try_join!(self.quote(), self.node.balance(own))?;
        let terms = GasTerms { quote, balance };
        if let Ok(mut known) = self.terms.lock() {
            *known = Some((Instant::now(), own, terms));
        }
        Ok(terms)
    }

    async fn quote(&self) -> Result<Quote, NoAnswer> {
        let quote = Quote::of(&self.node.fee_history().await?);
        // Recent blocks may have been empty, and some chains take nothing without a tip.
        let tip = if quote.tip == 0 { self.node.tip().await? } else { quote.tip };
        Ok(Quote { tip, ..quote })
    }

    /// Of the transactions under one nonce at most one can be in a block, so one that
    /// failed there speaks for all of them.
    pub(super) async fn look(
        &self,
        sent: &[SentTransactions],
        paid: &Paid<'_>,
    ) -> Result<Seen, NoAnswer> {
        let mut failed = Vec::new();
        for under_one_nonce in sent {
            for hash in under_one_nonce.hashes.iter().rev() {
                let Some(receipt) = self.node.receipt(*hash).await? else { continue };
                match self.judge(&receipt, paid).await? {
                    Some(Judged::Paid(moved)) => return Ok(Seen::Paid(moved)),
                    Some(Judged::Failed(finality)) => failed.push(finality),
                    Some(Judged::NotShown) | None => {}
                }
                break;
            }
        }
        if failed.is_empty() || failed.len() < sent.len() {
            return Ok(Seen::Nothing);
        }
        let all_final = failed.iter().all(|finality| *finality == Finality::Final);
        Ok(Seen::Failed(if all_final { Finality::Final } else { Finality::Provisional }))
    }

    /// What a receipt proves; none if its block is not part of the chain any more.
    pub(super) async fn judge(
        &self,
        receipt: &Receipt,
        paid: &Paid<'_>,
    ) -> Result<Option<Judged>, NoAnswer> {
        let standing = self.stands(receipt).await?;
        Ok(match (receipt.outcome, standing) {
            (_, None) => None,
            (Outcome::Succeeded, Some((at, finality))) if paid(receipt) => {
                let transaction = receipt.transaction.to_string();
                Some(Judged::Paid(Moved { transaction, at, finality }))
            }
            (Outcome::Succeeded, Some(_)) => Some(Judged::NotShown),
            (Outcome::Reverted, Some((_, finality))) => Some(Judged::Failed(finality)),
        })
    }

    /// The payment in a transaction of another sender, if it is there and stands. That needs
    /// no state of a block, which most nodes forget long before the block is final.
    pub(super) async fn shown(
        &self,
        hash: B256,
        paid: &Paid<'_>,
    ) -> Result<Option<Moved>, NoAnswer> {
        let Some(receipt) = self.node.receipt(hash).await? else { return Ok(None) };
        if receipt.outcome != Outcome::Succeeded || !paid(&receipt) {
            return Ok(None);
        }
        Ok(match self.judge(&receipt, paid).await? {
            Some(Judged::Paid(moved)) => Some(moved),
            Some(Judged::Failed(_) | Judged::NotShown) | None => None,
        })
    }

    /// When the receipt's block was made, and whether it stays; none if the block
    /// is not part of the chain any more. The settled block is read first: whatever
    /// is at or below it afterwards was so before.
    async fn stands(&self, receipt: &Receipt) -> Result<Option<(Timestamp, Finality)>, NoAnswer> {
        let settled = self.settled_head().await?;
        let block = match self.node.block(At::Number(receipt.block)).await {
            Err(NoAnswer::UnknownBlock) => return Ok(None),
            block => block?,
        };
        let stays = receipt.block <= settled.number;
        let finality = if stays { Finality::Final } else { Finality::Provisional };
        let same = block.hash == receipt.block_hash;
        Ok(same.then_some((Timestamp(block.timestamp), finality)))
    }
}

/// What one receipt proves.
pub(super) enum Judged {
    Paid(Moved),
    /// Its nonce is used, and nothing was paid.
    Failed(Finality),
    /// It succeeded, and its events show no payment: it is an empty transaction that replaced
    /// an expired call, or the node leaves out events. Neither proves that nothing was paid.
    NotShown,
}
