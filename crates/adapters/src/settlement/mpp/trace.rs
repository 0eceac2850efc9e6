//! The state of an authorization that any account may have sent.
//!
//! It has moved the money if a transaction of ours or of others has the transfer with this nonce. It
//! is void if the nonce is unused at the latest block and the final block is later than its end, or
//! if the final block that used the nonce shows that the payer cancelled it or paid another account
//! with it. Otherwise it is open. Final is what [`crate::settlement::chain`] says: the node's
//! `finalized` block, or `safe`, or a depth of confirmations.

use alloy_sol_types::SolEvent;
use evm::interfaces::Usdc;
use order::model::ids::Timestamp;
use order::model::payment::Finality;
use pay::mpp::credential::TransferAuthorization;
use pay::mpp::settler::TransferPayment;
use pay::transfer::{ConfirmedTransfer, TransferStatus};

use super::transfer::{is_use, key, nonce, shows};
use crate::rpc::{BlockHead, EventLog, LogFilter, NodeError, ReceiptStatus, to_alloy};
use crate::settlement::chain::PaymentReceipts;
use crate::settlement::network_settler::NetworkSettler;
use crate::settlement::preparation::PreparedCall;
use crate::settlement::proof::{NonceUse, ProofError};

/// The state of an authorization, proved by the chain.
pub(super) enum AuthorizationState {
    /// It can still be used.
    Unused,
    /// It is unused and has expired.
    Expired,
    /// The transfer was made, by any sender.
    Moved(ConfirmedTransfer),
    /// The nonce was cancelled or used for another transfer.
    Elsewhere(Finality),
}

/// It can be used only before it expires, by block time, so our clock is not used.
pub(super) async fn trace(
    network: &NetworkSettler,
    due: TransferPayment<'_>,
    reported: Option<&str>,
) -> Result<TransferStatus, ProofError> {
    let sent = network.sent(key(due.authorization)).await?;
    let paid = |receipt: &_| shows(receipt, due.authorization);
    match network.chain.look(&sent, &paid).await? {
        PaymentReceipts::Paid(moved) => return Ok(TransferStatus::Moved(moved)),
        // A node that is behind has no receipt either.
        PaymentReceipts::Nothing | PaymentReceipts::Failed(_) => {}
    }
    if let Some(reported) = reported.and_then(|hash| hash.parse().ok())
        && let Some(moved) = network.chain.shown(reported, &paid).await?
    {
        return Ok(TransferStatus::Moved(moved));
    }
    let since = PreparedCall::read(due.preparation).map(|prepared| prepared.since);
    Ok(match find(network, due.authorization, since).await? {
        AuthorizationState::Moved(moved) => TransferStatus::Moved(moved),
        AuthorizationState::Unused | AuthorizationState::Elsewhere(Finality::Provisional) => {
            TransferStatus::Open
        }
        AuthorizationState::Expired | AuthorizationState::Elsewhere(Finality::Final) => {
            TransferStatus::Void
        }
    })
}

/// Finds the transfer of any sender by its events.
pub(super) async fn find(
    network: &NetworkSettler,
    authorization: &TransferAuthorization,
    since: Option<u64>,
) -> Result<AuthorizationState, ProofError> {
    let heads = network.chain.heads().await?;
    // The token takes it before that second, and not in it.
    let last_second = authorization.valid_before.saturating_sub(1);
    let block = match nonce(authorization).find_use(&network.chain.node, &heads, since).await? {
        NonceUse::Unused if heads.is_past(last_second) => return Ok(AuthorizationState::Expired),
        NonceUse::Unused => return Ok(AuthorizationState::Unused),
        NonceUse::UsedIn(block) => block,
    };
    let finality = heads.finality(block.number);
    // The nonce state is the same for use and cancellation; the events differ.
    let end = end_of_nonce(network, authorization, block).await?.ok_or(ProofError::Unexplained)?;
    if !is_use(&end, authorization) {
        return Ok(AuthorizationState::Elsewhere(finality));
    }
    let receipt = network.chain.node.receipt(end.transaction).await?.ok_or(NodeError::Unusable)?;
    let whole = receipt.block_hash == block.hash
        && receipt.outcome == ReceiptStatus::Succeeded
        && receipt.logs.iter().any(|log| is_use(log, authorization));
    if !whole {
        return Err(NodeError::Unusable.into());
    }
    if !shows(&receipt, authorization) {
        return Ok(AuthorizationState::Elsewhere(finality));
    }
    let (transaction, at) = (end.transaction.to_string(), Timestamp(block.timestamp));
    Ok(AuthorizationState::Moved(ConfirmedTransfer { transaction, at, finality }))
}

/// The event that used or cancelled this nonce. There is exactly one in its block; a node without
/// it keeps no logs.
async fn end_of_nonce(
    network: &NetworkSettler,
    authorization: &TransferAuthorization,
    block: BlockHead,
) -> Result<Option<EventLog>, NodeError> {
    let events =
        vec![Usdc::AuthorizationUsed::SIGNATURE_HASH, Usdc::AuthorizationCanceled::SIGNATURE_HASH];
    let payer = vec![to_alloy(authorization.from).into_word()];
    let topics = vec![events, payer, vec![authorization.nonce.into()]];
    let contracts = vec![authorization.network.usdc()];
    let mut logs =
        network.chain.node.logs(&LogFilter { block: block.hash, contracts, topics }).await?;
    if logs.len() > 1 {
        return Err(NodeError::Unusable);
    }
    Ok(logs.pop())
}
