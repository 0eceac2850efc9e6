//! USDC transfers as our nodes show them: the proof of a refund, and what sellers received.
//!
//! Reading order: `event`, one transfer in a log; `period`, the final blocks of a period;
//! `received`, the transfers in these blocks.

use std::collections::BTreeMap;

use alloy_primitives::B256;
use async_trait::async_trait;
use order::model::chain::{EvmAddress, Network};
use order::model::evidence::BlockTag;
use order::model::ids::Timestamp;
use order::operator::transfers::{
    ChainTransaction, FinalTransaction, ReceivedTransfer, TransactionHash, UsdcTransfers,
};
use order::ports::Failure;

use crate::rpc::{BlockId, Node, NodeError, ReceiptStatus};

mod error;
mod event;
mod period;
mod received;
#[cfg(test)]
mod tests;

use error::TransfersError;

/// Reads USDC transfers from one node of each network.
pub struct NodeTransfers {
    nodes: BTreeMap<Network, Node>,
}

impl NodeTransfers {
    pub const fn new(nodes: BTreeMap<Network, Node>) -> Self {
        Self { nodes }
    }

    fn node(&self, network: Network) -> Result<&Node, Failure> {
        let missing = || Failure::Refused(format!("no node is configured for {network}"));
        self.nodes.get(&network).ok_or_else(missing)
    }
}

#[async_trait]
impl UsdcTransfers for NodeTransfers {
    fn networks(&self) -> Vec<Network> {
        self.nodes.keys().copied().collect()
    }

    async fn transaction(
        &self,
        network: Network,
        transaction: &TransactionHash,
    ) -> Result<ChainTransaction, Failure> {
        let node = self.node(network)?;
        let hash: B256 = transaction.as_str().parse().map_err(|_| TransfersError::Hash)?;
        Ok(look(node, network, hash).await.map_err(TransfersError::Node)?)
    }

    async fn received(
        &self,
        network: Network,
        accounts: &[EvmAddress],
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<ReceivedTransfer>, Failure> {
        let node = self.node(network)?;
        // Without an account, the filter would admit every transfer on the network.
        if accounts.is_empty() {
            return Ok(Vec::new());
        }
        let Some(blocks) = period::final_blocks(node, from, until).await? else {
            return Ok(Vec::new());
        };
        let found = received::in_blocks(node, network, accounts, &blocks).await;
        Ok(found.map_err(TransfersError::Node)?)
    }
}

async fn look(node: &Node, network: Network, hash: B256) -> Result<ChainTransaction, NodeError> {
    let Some(receipt) = node.receipt(hash).await? else { return Ok(ChainTransaction::Unknown) };
    match receipt.outcome {
        ReceiptStatus::Reverted => return Ok(ChainTransaction::Reverted),
        ReceiptStatus::Succeeded => {}
    }
    // Read before the receipt's block, so a block at or below it was final already.
    let finalized = node.block(BlockId::Tag(BlockTag::Finalized)).await?;
    if receipt.block > finalized.number {
        return Ok(ChainTransaction::NotFinal);
    }
    let block = period::block_at(node, receipt.block).await?;
    if block.hash != receipt.block_hash {
        return Ok(ChainTransaction::NotFinal);
    }
    let (Some(sender), Some(fee_wei)) = (receipt.sender, receipt.fee_wei) else {
        return Err(NodeError::Unusable);
    };
    Ok(ChainTransaction::Final(FinalTransaction {
        at: Timestamp(block.timestamp),
        sender: EvmAddress::from_bytes(sender.into_array()),
        fee_wei,
        transfers: event::in_receipt(&receipt, network)?,
    }))
}
