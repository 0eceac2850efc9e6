//! What became of a transaction, as its receipt and the chain's own blocks have it.

use alloy_primitives::B256;
use order::ids::Timestamp;
use order::payment::Finality;
use pay::movement::Moved;

use super::Lane;
use crate::rpc::{At, NoAnswer, Outcome, Receipt};

/// Whether a successful receipt shows the payment that is looked for.
pub(in crate::settler) type Paid<'a> = dyn Fn(&Receipt) -> bool + Sync + 'a;

/// What the receipts of all transactions of one payment say together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::settler) enum Seen {
    /// Some are in no block.
    Nothing,
    Paid(Moved),
    /// Every one of them is in a block and did nothing there.
    Failed(Finality),
}

impl Lane {
    pub(in crate::settler) async fn look(
        &self,
        hashes: &[B256],
        paid: &Paid<'_>,
    ) -> Result<Seen, NoAnswer> {
        let mut failed = Vec::new();
        for hash in hashes {
            let Some(receipt) = self.node.receipt(*hash).await? else { continue };
            match receipt.outcome {
                Outcome::Succeeded if paid(&receipt) => {
                    if let Some((at, finality)) = self.stands(&receipt).await? {
                        let transaction = receipt.transaction.to_string();
                        return Ok(Seen::Paid(Moved { transaction, at, finality }));
                    }
                }
                // No transaction of ours succeeds without paying.
                Outcome::Succeeded => return Err(NoAnswer::Unusable),
                Outcome::Reverted => {
                    failed.extend(self.stands(&receipt).await?.map(|(_, finality)| finality));
                }
            }
        }
        if failed.is_empty() || failed.len() < hashes.len() {
            return Ok(Seen::Nothing);
        }
        let all_final = failed.iter().all(|finality| *finality == Finality::Final);
        Ok(Seen::Failed(if all_final { Finality::Final } else { Finality::Provisional }))
    }

    /// The payment in a transaction of somebody else's, if it is there and stands. That needs
    /// no state of a block, which most nodes forget long before the block is final.
    pub(in crate::settler) async fn shown(
        &self,
        hash: B256,
        paid: &Paid<'_>,
    ) -> Result<Option<Moved>, NoAnswer> {
        let Some(receipt) = self.node.receipt(hash).await? else { return Ok(None) };
        if receipt.outcome != Outcome::Succeeded || !paid(&receipt) {
            return Ok(None);
        }
        let transaction = receipt.transaction.to_string();
        let standing = self.stands(&receipt).await?;
        Ok(standing.map(|(at, finality)| Moved { transaction, at, finality }))
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
