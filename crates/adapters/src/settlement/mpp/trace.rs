//! What became of an authorization that anybody may have carried to the chain.

use alloy_sol_types::SolEvent;
use order::model::ids::Timestamp;
use order::model::payment::Finality;
use pay::movement::{Moved, Movement};
use pay::mpp::credential::Authorization;
use pay::mpp::facilitator::Due;

use super::{is_use, key, nonce, place, shows};
use crate::nonce::{Doubt, Fate};
use crate::rpc::{Filter, Head, Log, NoAnswer, Outcome};
use crate::settlement::abi::Usdc;
use crate::settlement::chain::Seen;
use crate::settlement::network::NetworkSettler;
use crate::settlement::preparation::PreparedCall;

/// Where an authorization stands, as the chain proves it.
pub(super) enum Whereabouts {
    /// It can still be carried.
    Unused,
    /// It is unused, and no block can take it any more.
    Expired,
    /// By us or by anybody else.
    Moved(Moved),
    /// The nonce was cancelled or used for another transfer, in a block that stays or
    /// may be replaced.
    Elsewhere(Finality),
}

/// Whoever carries it, it is carried before its end or never. Both facts are the
/// chain's, and so is the time: our own clock has no say.
pub(super) async fn trace(
    network: &NetworkSettler,
    due: Due<'_>,
    told: Option<&str>,
) -> Result<Movement, Doubt> {
    let sent = network.sent(key(due.authorization)).await?;
    let paid = |receipt: &_| shows(receipt, due.authorization);
    match network.chain.look(&sent, &paid).await? {
        Seen::Paid(moved) => return Ok(Movement::Moved(moved)),
        // A missing receipt is what a node that is behind would say too.
        Seen::Nothing | Seen::Failed(_) => {}
    }
    if let Some(told) = told.and_then(|hash| hash.parse().ok())
        && let Some(moved) = network.chain.shown(told, &paid).await?
    {
        return Ok(Movement::Moved(moved));
    }
    let since = PreparedCall::read(due.preparation).map(|prepared| prepared.since);
    Ok(match find(network, due.authorization, since).await? {
        Whereabouts::Moved(moved) => Movement::Moved(moved),
        Whereabouts::Unused | Whereabouts::Elsewhere(Finality::Provisional) => Movement::Open,
        Whereabouts::Expired | Whereabouts::Elsewhere(Finality::Final) => Movement::Void,
    })
}

/// Finds the transfer by what it did, whoever sent it.
pub(super) async fn find(
    network: &NetworkSettler,
    authorization: &Authorization,
    since: Option<u64>,
) -> Result<Whereabouts, Doubt> {
    let horizon = network.chain.horizon().await?;
    // The token takes it before that second, and not in it.
    let last_second = authorization.valid_before.saturating_sub(1);
    let block = match nonce(authorization).fate(&network.chain.node, &horizon, since).await? {
        Fate::Unused if horizon.is_past(last_second) => return Ok(Whereabouts::Expired),
        Fate::Unused => return Ok(Whereabouts::Unused),
        Fate::UsedIn(block) => block,
    };
    let finality = horizon.finality(block.number);
    // The state of the nonce is the same for both; the token's own word is not.
    let end = end_of_nonce(network, authorization, block).await?.ok_or(Doubt::Unexplained)?;
    if !is_use(&end, authorization) {
        return Ok(Whereabouts::Elsewhere(finality));
    }
    let receipt = network.chain.node.receipt(end.transaction).await?.ok_or(NoAnswer::Unusable)?;
    let whole = receipt.block_hash == block.hash
        && receipt.outcome == Outcome::Succeeded
        && receipt.logs.iter().any(|log| is_use(log, authorization));
    if !whole {
        return Err(NoAnswer::Unusable.into());
    }
    if !shows(&receipt, authorization) {
        return Ok(Whereabouts::Elsewhere(finality));
    }
    let (transaction, at) = (end.transaction.to_string(), Timestamp(block.timestamp));
    Ok(Whereabouts::Moved(Moved { transaction, at, finality }))
}

/// The token's word for the end of this nonce, of which there is one in its block. A
/// node that has none keeps something from us.
async fn end_of_nonce(
    network: &NetworkSettler,
    authorization: &Authorization,
    block: Head,
) -> Result<Option<Log>, NoAnswer> {
    let events =
        vec![Usdc::AuthorizationUsed::SIGNATURE_HASH, Usdc::AuthorizationCanceled::SIGNATURE_HASH];
    let payer = vec![place(authorization.from).into_word()];
    let topics = vec![events, payer, vec![authorization.nonce.into()]];
    let contracts = vec![authorization.network.usdc()];
    let mut logs =
        network.chain.node.logs(&Filter { block: block.hash, contracts, topics }).await?;
    if logs.len() > 1 {
        return Err(NoAnswer::Unusable);
    }
    Ok(logs.pop())
}
