//! Reads one chain: which blocks are final, and what receipts prove.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use alloy_primitives::B256;
use order::model::chain::EvmAddress;
use order::model::evidence::BlockTag;
use order::model::ids::Timestamp;
use order::model::payment::Finality;
use pay::transfer::ConfirmedTransfer;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::fees::{GasPrice, GasTerms};
use super::outbox::SentTransactions;
use crate::rpc::{BlockHead, BlockId, Node, NodeError, ReceiptStatus, TransactionReceipt};
use crate::settlement::proof::ChainHeads;

pub(super) const LATEST: BlockId = BlockId::Tag(BlockTag::Latest);

/// Error codes of nodes that do not support a block tag.
const TAG_UNKNOWN: [i64; 4] = [-32602, -32601, -32000, -39001];

/// Whether a successful receipt shows the payment.
pub(super) type PaymentTest<'a> = dyn Fn(&TransactionReceipt) -> bool + Sync + 'a;

/// A node and its cached state.
pub(super) struct Chain {
    pub(super) node: Node,
    /// The depth at which a block counts as final, for nodes without finalized blocks.
    confirmations: u64,
    /// The node has returned a finalized block before. From then on an error is an error: the
    /// code for an unknown tag is also used for temporary failures.
    tells_final: AtomicBool,
    /// Locked while it is read again.
    terms: Mutex<Option<TermsRead>>,
}

/// The last exchange about the gas terms of an account.
struct TermsRead {
    begun: Instant,
    ended: Instant,
    of: EvmAddress,
    result: Result<GasTerms, NodeError>,
}

/// What the receipts of all transactions of one payment prove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PaymentReceipts {
    /// Some nonce has no receipt.
    Nothing,
    Paid(ConfirmedTransfer),
    /// For every nonce one transaction is in a block and failed.
    Failed(Finality),
}

impl Chain {
    pub(super) fn new(node: Node, confirmations: u64) -> Self {
        let (tells_final, terms) = (AtomicBool::new(false), Mutex::new(None));
        Self { node, confirmations, tells_final, terms }
    }

    /// The latest final block. If the node does not support `finalized`, the `safe` block or an
    /// old block is used.
    pub(super) async fn final_head(&self) -> Result<BlockHead, NodeError> {
        for tag in [BlockTag::Finalized, BlockTag::Safe] {
            match self.node.block(BlockId::Tag(tag)).await {
                Ok(head) => {
                    if tag == BlockTag::Finalized {
                        self.tells_final.store(true, Ordering::Relaxed);
                    }
                    return Ok(head);
                }
                Err(why) if self.tells_final.load(Ordering::Relaxed) => return Err(why),
                Err(NodeError::UnknownBlock) => {}
                Err(NodeError::Refused(code)) if TAG_UNKNOWN.contains(&code) => {}
                Err(why) => return Err(why),
            }
        }
        let latest = self.node.block(LATEST).await?;
        let old = latest.number.saturating_sub(self.confirmations);
        self.node.block(BlockId::Number(old)).await
    }

    /// The latest and the final block.
    pub(super) async fn heads(&self) -> Result<ChainHeads, NodeError> {
        ChainHeads::beyond(&self.node, self.final_head().await?).await
    }

    /// Fees and the balance of our account, cached for at most `age_most`. Concurrent callers share
    /// one exchange. They share a failure that began after they asked, so a node without an answer
    /// delays each of them for two deadlines at most.
    pub(super) async fn terms(
        &self,
        own: EvmAddress,
        age_most: Duration,
    ) -> Result<GasTerms, NodeError> {
        let asked = Instant::now();
        let mut last = self.terms.lock().await;
        if let Some(read) = last.as_ref().filter(|read| read.of == own)
            && (read.begun >= asked || (read.result.is_ok() && read.ended.elapsed() < age_most))
        {
            return read.result.clone();
        }
        let begun = Instant::now();
        let result = self.read_terms(own).await;
        let ended = Instant::now();
        *last = Some(TermsRead { begun, ended, of: own, result: result.clone() });
        result
    }

    async fn read_terms(&self, own: EvmAddress) -> Result<GasTerms, NodeError> {
        let (gas_price, balance) = tokio::try_join!(self.gas_price(), self.node.balance(own))?;
        Ok(GasTerms { gas_price, balance })
    }

    async fn gas_price(&self) -> Result<GasPrice, NodeError> {
        let gas_price = GasPrice::of(&self.node.fee_history().await?);
        // Recent blocks may have been empty, and some chains require a priority fee.
        let tip = if gas_price.tip == 0 { self.node.tip().await? } else { gas_price.tip };
        Ok(GasPrice { tip, ..gas_price })
    }

    /// At most one transaction of a nonce can be in a block, so one that failed there decides for
    /// all of them.
    pub(super) async fn look(
        &self,
        sent: &[SentTransactions],
        paid: &PaymentTest<'_>,
    ) -> Result<PaymentReceipts, NodeError> {
        let mut failed = Vec::new();
        for under_one_nonce in sent {
            for hash in under_one_nonce.hashes.iter().rev() {
                let Some(receipt) = self.node.receipt(*hash).await? else { continue };
                match self.prove(&receipt, None, paid).await? {
                    Some(ReceiptProof::Paid(moved)) => return Ok(PaymentReceipts::Paid(moved)),
                    Some(ReceiptProof::Failed(finality)) => failed.push(finality),
                    Some(ReceiptProof::NotShown) | None => {}
                }
                break;
            }
        }
        if failed.is_empty() || failed.len() < sent.len() {
            return Ok(PaymentReceipts::Nothing);
        }
        let all_final = failed.iter().all(|finality| *finality == Finality::Final);
        Ok(PaymentReceipts::Failed(if all_final { Finality::Final } else { Finality::Provisional }))
    }

    /// What a receipt proves; none if its block is not part of the chain any more. A payment in
    /// a block that the sender has seen in the chain needs no further call.
    pub(super) async fn prove(
        &self,
        receipt: &TransactionReceipt,
        seen_in: Option<(Timestamp, Finality)>,
        paid: &PaymentTest<'_>,
    ) -> Result<Option<ReceiptProof>, NodeError> {
        let is_payment = receipt.outcome == ReceiptStatus::Succeeded && paid(receipt);
        let in_block = match seen_in {
            Some(block) if is_payment => Some(block),
            Some(_) | None => self.stands(receipt).await?,
        };
        Ok(match (receipt.outcome, in_block) {
            (_, None) => None,
            (ReceiptStatus::Succeeded, Some((at, finality))) if is_payment => {
                let transaction = receipt.transaction.to_string();
                Some(ReceiptProof::Paid(ConfirmedTransfer { transaction, at, finality }))
            }
            (ReceiptStatus::Succeeded, Some(_)) => Some(ReceiptProof::NotShown),
            (ReceiptStatus::Reverted, Some((_, finality))) => Some(ReceiptProof::Failed(finality)),
        })
    }

    /// The payment in another sender's transaction, if its block is canonical. This needs no
    /// block state, which most nodes prune before the block is final.
    pub(super) async fn shown(
        &self,
        hash: B256,
        paid: &PaymentTest<'_>,
    ) -> Result<Option<ConfirmedTransfer>, NodeError> {
        let Some(receipt) = self.node.receipt(hash).await? else { return Ok(None) };
        if receipt.outcome != ReceiptStatus::Succeeded || !paid(&receipt) {
            return Ok(None);
        }
        Ok(match self.prove(&receipt, None, paid).await? {
            Some(ReceiptProof::Paid(moved)) => Some(moved),
            Some(ReceiptProof::Failed(_) | ReceiptProof::NotShown) | None => None,
        })
    }

    /// Time and finality of the receipt's block; none if the block is not canonical any more. The
    /// final block is read first, so a block at or below it was already final.
    async fn stands(
        &self,
        receipt: &TransactionReceipt,
    ) -> Result<Option<(Timestamp, Finality)>, NodeError> {
        let final_head = self.final_head().await?;
        let block = match self.node.block(BlockId::Number(receipt.block)).await {
            Err(NodeError::UnknownBlock) => return Ok(None),
            block => block?,
        };
        let stays = receipt.block <= final_head.number;
        let finality = if stays { Finality::Final } else { Finality::Provisional };
        let same = block.hash == receipt.block_hash;
        Ok(same.then_some((Timestamp(block.timestamp), finality)))
    }
}

/// What one receipt proves.
pub(super) enum ReceiptProof {
    Paid(ConfirmedTransfer),
    /// Its nonce is used, and nothing was paid.
    Failed(Finality),
    /// It succeeded, and its events show no payment: it is an empty transaction that replaced
    /// an expired call, or the node leaves out events. Neither proves that nothing was paid.
    NotShown,
}
