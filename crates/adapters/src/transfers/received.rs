//! The USDC transfers to some accounts in consecutive blocks.

use std::collections::BTreeMap;

use alloy_primitives::B256;
use alloy_sol_types::SolEvent;
use evm::interfaces::Usdc as UsdcContract;
use order::model::chain::{EvmAddress, Network};
use order::model::ids::Timestamp;
use order::operator::transfers::{ReceivedTransfer, TransactionHash};

use super::event;
use super::period::{PeriodBlocks, block_at};
use crate::http::{CallError, CallErrorKind};
use crate::rpc::{BlockHead, EventLog, LogRange, Node, NodeError};

/// Blocks in one request. Most nodes accept so many.
const BLOCKS_MAX: u64 = 2_000;
/// After so many answers in a row, a range that was too large for the node is doubled again.
const ANSWERS_BEFORE_GROWTH: u32 = 16;

/// The transfers to these accounts, oldest first.
pub(super) async fn in_blocks(
    node: &Node,
    network: Network,
    accounts: &[EvmAddress],
    blocks: &PeriodBlocks,
) -> Result<Vec<ReceivedTransfer>, NodeError> {
    let mut logs = logs(node, network, accounts, blocks).await?;
    logs.sort_by_key(|log| log.block);
    let mut heads: BTreeMap<u64, BlockHead> = BTreeMap::new();
    let mut received = Vec::with_capacity(logs.len());
    for log in &logs {
        let head = match heads.get(&log.block) {
            Some(head) => *head,
            None => *heads.entry(log.block).or_insert(block_at(node, log.block).await?),
        };
        let at = Timestamp(head.timestamp);
        if head.hash != log.block_hash || !blocks.covers(at) {
            return Err(NodeError::Unusable);
        }
        let transaction = TransactionHash::parse(&log.transaction.to_string());
        let transaction = transaction.map_err(|_| NodeError::Unusable)?;
        received.push(ReceivedTransfer { network, transaction, at, transfer: event::read(log)? });
    }
    Ok(received)
}

async fn logs(
    node: &Node,
    network: Network,
    accounts: &[EvmAddress],
    blocks: &PeriodBlocks,
) -> Result<Vec<EventLog>, NodeError> {
    let to: Vec<B256> =
        accounts.iter().map(|account| B256::left_padding_from(&account.bytes())).collect();
    let topics = vec![vec![UsdcContract::Transfer::SIGNATURE_HASH], Vec::new(), to];
    let contract = network.usdc();
    let (mut logs, mut next) = (Vec::new(), blocks.first);
    let (mut size, mut answers) = (BLOCKS_MAX, 0_u32);
    while next <= blocks.last {
        let last = blocks.last.min(next.saturating_add(size - 1));
        let range = LogRange { first: next, last, contract, topics: topics.clone() };
        match node.logs_between(&range).await {
            Ok(found) => {
                logs.extend(found);
                next = last.saturating_add(1);
                answers += 1;
                if answers.is_multiple_of(ANSWERS_BEFORE_GROWTH) {
                    size = size.saturating_mul(2).min(BLOCKS_MAX);
                }
            }
            Err(why) if last > next && is_too_much(&why) => {
                (size, answers) = ((last - next).div_ceil(2), 0);
            }
            Err(why) => return Err(why),
        }
    }
    Ok(logs)
}

/// Whether fewer blocks may be answered. Each node software has another code for too many blocks
/// or events, so every error that the node itself reports counts.
const fn is_too_much(why: &NodeError) -> bool {
    match why {
        NodeError::Refused(_) | NodeError::OutOfGas => true,
        NodeError::Http(CallError::Refused(kind) | CallError::Lost(kind)) => {
            matches!(kind, CallErrorKind::TooLarge | CallErrorKind::Status(413))
        }
        NodeError::Reverted(_)
        | NodeError::Unusable
        | NodeError::UnknownBlock
        | NodeError::OtherChain(_) => false,
    }
}
