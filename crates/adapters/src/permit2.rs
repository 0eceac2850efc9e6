//! The proof on a chain that a Permit2 authorization paid us, or never will.
//!
//! A used nonce alone proves nothing: a payer can cancel it. The transfer itself proves a
//! payment, in a transaction that settles this authorization. Two things prove that it is void:
//!
//! * The nonce is unused at the latest block, and the final block is later than the deadline.
//! * The final block that used the nonce (see [`crate::settlement::proof`]) shows that the payer
//!   cancelled it, or paid another account with it.
//!
//! Before that the payment is open. A use that the block does not explain is a doubt, and a person
//! decides.
//!
//! [`trace`] decides from the chain alone, where only `finalized` blocks are final. [`trace_at`] is
//! for callers that know which blocks are final: for our settler, a node that does not tell
//! `finalized` blocks has `safe` blocks or a depth of confirmations.

use alloy_primitives::B256;
use alloy_sol_types::SolCall;
use evm::interfaces::Permit2;
use order::model::chain::EvmAddress;
use order::model::payment::Finality;
use pay::transfer::TransferStatus;

use crate::rpc::{BlockId, Node, NodeError, ReceiptStatus, to_alloy};
use crate::settlement::proof::{ChainHeads, ContractNonce, NonceUse, ProofError};

mod block;
mod settle_call;
mod sought_payment;
pub(crate) mod x402_signature;

use block::{Found, Transfer};
pub(crate) use sought_payment::word_and_bit;
pub use sought_payment::{PERMIT2, SoughtPayment, UPTO_PROXY};

/// A nonce of Permit2's, as it is asked about.
pub fn nonce(payer: EvmAddress, nonce: [u8; 32]) -> ContractNonce {
    let (word, bit) = word_and_bit(nonce);
    let asked = Permit2::nonceBitmapCall { owner: to_alloy(payer), wordPosition: word };
    ContractNonce { contract: PERMIT2, call_data: asked.abi_encode(), bit }
}

/// What makes a search shorter. It proves nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// A block before the transfer.
    pub since: Option<u64>,
    /// The transaction that is reported to have made it.
    pub reported: Option<B256>,
}

/// Finds out what became of a payment.
pub async fn trace(
    node: &Node,
    sought: &SoughtPayment,
    hints: Hints,
) -> Result<TransferStatus, ProofError> {
    trace_at(node, sought, &ChainHeads::of(node).await?, hints).await
}

/// The same, with the latest and the final block that the caller has read.
pub async fn trace_at(
    node: &Node,
    sought: &SoughtPayment,
    heads: &ChainHeads,
    Hints { since, reported }: Hints,
) -> Result<TransferStatus, ProofError> {
    if let Some(reported) = reported
        && let Some(transfer) = shown(node, sought, reported).await?
    {
        return Ok(TransferStatus::Moved(transfer.moved(heads)));
    }
    let over = heads.is_past(sought.deadline);
    let used_in = match nonce(sought.payer, sought.nonce).find_use(node, heads, since).await? {
        NonceUse::Unused if over => return Ok(TransferStatus::Void),
        NonceUse::Unused => return Ok(TransferStatus::Open),
        NonceUse::UsedIn(block) => block,
    };
    match block::look(node, sought, used_in).await? {
        Found::Transfer(transfer) => Ok(TransferStatus::Moved(transfer.moved(heads))),
        Found::Unclear => Err(ProofError::Unclear),
        Found::Elsewhere => Ok(match heads.finality(used_in.number) {
            Finality::Final => TransferStatus::Void,
            Finality::Provisional => TransferStatus::Open,
        }),
        // Events may be a moment behind the state; only in the end is it strange.
        Found::Nothing if over => Err(ProofError::Unexplained),
        Found::Nothing => Ok(TransferStatus::Open),
    }
}

/// The transfer in the reported transaction, if it is there. That needs no
/// state of a block, which most nodes forget long before the block is final.
async fn shown(
    node: &Node,
    sought: &SoughtPayment,
    reported: B256,
) -> Result<Option<Transfer>, NodeError> {
    let Some(receipt) = node.receipt(reported).await? else { return Ok(None) };
    let block = match node.block(BlockId::Number(receipt.block)).await {
        Err(NodeError::UnknownBlock) => return Ok(None),
        block => block?,
    };
    if block.hash != receipt.block_hash || receipt.outcome != ReceiptStatus::Succeeded {
        return Ok(None);
    }
    match block::judge_transaction(node, sought, reported, block).await? {
        Found::Transfer(transfer) => Ok(Some(transfer)),
        Found::Unclear | Found::Elsewhere | Found::Nothing => Ok(None),
    }
}
