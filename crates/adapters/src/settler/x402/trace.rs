//! What became of a promise that may have been carried to the chain.

use std::fmt;

use alloy_primitives::{B256, U256};
use alloy_sol_types::{SolEvent, SolInterface};
use order::evidence::BlockTag;
use order::ports::Failure;
use pay::movement::{Moved, Movement};
use pay::x402::credential::Promise;
use pay::x402::facilitator::Due;

use super::{Nonce, PERMIT2, UPTO_PROXY, bit, is_payment, nonce, noun, place, shows};
use crate::rpc::{At, Filter, Head, NoAnswer};
use crate::settler::abi::{Permit2, UptoProxy, Usdc};
use crate::settler::bundle::Bundle;
use crate::settler::lane::{Lane, Seen};

/// How many blocks a node is asked to search at once; more is refused by some.
const SEARCH_BLOCKS: u64 = 1_000;
/// And how often, before we give up: a promise lives for minutes.
const SEARCHES_MAX: u32 = 64;

/// Why nobody can tell now. The words are for the log.
pub(in crate::settler) enum Unclear {
    Node(NoAnswer),
    /// What was kept with the order is none of ours.
    Unreadable,
    /// The node's own answers contradict each other.
    Contradiction,
}

impl From<NoAnswer> for Unclear {
    fn from(why: NoAnswer) -> Self {
        Self::Node(why)
    }
}

impl fmt::Display for Unclear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(why) => write!(f, "node: {why}"),
            Self::Unreadable => f.write_str("the preparation cannot be read"),
            Self::Contradiction => f.write_str("the node contradicts itself"),
        }
    }
}

/// A question, and yet nobody should conclude anything from its failure.
impl From<Unclear> for Failure {
    fn from(why: Unclear) -> Self {
        Self::Lost(why.to_string())
    }
}

/// Only we can carry the promise, since it names us, and only until its deadline.
/// Both facts are the chain's, and so is the time: our own clock has no say.
pub(in crate::settler) async fn trace(lane: &Lane, due: Due<'_>) -> Result<Movement, Unclear> {
    let bundle = Bundle::read(due.preparation).ok_or(Unclear::Unreadable)?;
    if let Some(moved) = find(lane, due, &bundle.hashes()).await? {
        return Ok(Movement::Moved(moved));
    }
    // The latest block is read after the settled one and stands on it, so what is
    // not used there was not used before. It is asked about by its number: a node
    // that has not come so far then says so instead of telling how things were.
    let settled = lane.settled_head().await?;
    let head = lane.node.block(At::Tag(BlockTag::Latest)).await?;
    if head.number < settled.number {
        return Err(Unclear::Contradiction);
    }
    let over = Over::by(settled, due.promise);
    match (nonce(lane, due.promise, At::Number(head.number)).await?, over) {
        (Nonce::Unused, Over::Yes) => Ok(Movement::Void),
        (Nonce::Unused, Over::NotYet) => Ok(Movement::Open),
        (Nonce::Used, over) => used(lane, due, &bundle, (settled, head), over).await,
    }
}

/// Whether the promise can be spent in no block that is still to come, nor in any
/// that may still be replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Over {
    Yes,
    NotYet,
}

impl Over {
    fn by(settled: Head, promise: &Promise) -> Self {
        if settled.timestamp > promise.deadline { Self::Yes } else { Self::NotYet }
    }
}

async fn find(lane: &Lane, due: Due<'_>, hashes: &[B256]) -> Result<Option<Moved>, NoAnswer> {
    let paid = |receipt: &_| shows(receipt, due.promise, due.charge);
    Ok(match lane.look(hashes, &paid).await? {
        Seen::Paid(moved) => Some(moved),
        Seen::Nothing | Seen::Failed(_) => None,
    })
}

/// The nonce is used: by a transfer of ours, or by the payer for something else. A
/// used nonce alone proves neither.
async fn used(
    lane: &Lane,
    due: Due<'_>,
    bundle: &Bundle,
    (settled, head): (Head, Head),
    over: Over,
) -> Result<Movement, Unclear> {
    let mut cancelled = Cancelled::No;
    let mut first = bundle.since;
    for _ in 0..SEARCHES_MAX {
        let last = first.saturating_add(SEARCH_BLOCKS).min(head.number);
        if let Some(moved) = payment_in(lane, due, bundle, (first, last)).await? {
            return Ok(Movement::Moved(moved));
        }
        if cancelled_in(lane, due.promise, (first, last.min(settled.number))).await? {
            cancelled = Cancelled::ForGood;
        }
        let searched_all = last >= head.number
            || lane.node.block(At::Number(last)).await?.timestamp > due.promise.deadline;
        match (searched_all, cancelled, over) {
            (false, _, _) => first = last.saturating_add(1),
            // The payer took the promise back, in a block that stays.
            (true, Cancelled::ForGood, _) => return Ok(Movement::Void),
            // Every block that could hold our transfer stays, and none does.
            (true, Cancelled::No, Over::Yes) => return Ok(Movement::Void),
            (true, Cancelled::No, Over::NotYet) => return Ok(Movement::Open),
        }
    }
    Err(Unclear::Contradiction)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cancelled {
    No,
    ForGood,
}

/// A transfer of ours in these blocks, also one that nobody remembers signing.
async fn payment_in(
    lane: &Lane,
    due: Due<'_>,
    bundle: &Bundle,
    blocks: (u64, u64),
) -> Result<Option<Moved>, Unclear> {
    let promise = due.promise;
    let parties = [promise.payer, promise.pay_to].map(|party| place(party).into_word());
    let topics = vec![Usdc::Transfer::SIGNATURE_HASH, parties[0], parties[1]];
    let contract = promise.network.usdc();
    for log in lane.node.logs(&Filter { contract, topics, blocks }).await? {
        let known = bundle.hashes().contains(&log.transaction);
        if !known && !spends(lane, promise, log.transaction).await? {
            continue;
        }
        if !is_payment(&log, promise, due.charge) {
            return Err(Unclear::Contradiction);
        }
        return Ok(find(lane, due, &[log.transaction]).await?);
    }
    Ok(None)
}

/// Whether a transaction is one of our account that spends this very promise.
async fn spends(lane: &Lane, promise: &Promise, transaction: B256) -> Result<bool, Unclear> {
    use UptoProxy::UptoProxyCalls as Calls;
    let known = lane.node.transaction(transaction).await?.ok_or(Unclear::Contradiction)?;
    if known.from != place(promise.facilitator) || known.to != Some(UPTO_PROXY) {
        return Ok(false);
    }
    let (permit, owner) = match Calls::abi_decode(&known.input) {
        Ok(Calls::settle(call)) => (call.permit, call.owner),
        Ok(Calls::settleWithPermit(call)) => (call.permit, call.owner),
        Err(_) => return Ok(false),
    };
    let same = permit.nonce == U256::from_be_bytes(promise.nonce);
    Ok(same && owner == place(promise.payer))
}

/// Whether the payer marked the nonce as used without spending it.
async fn cancelled_in(
    lane: &Lane,
    promise: &Promise,
    blocks: (u64, u64),
) -> Result<bool, NoAnswer> {
    if blocks.1 < blocks.0 {
        return Ok(false);
    }
    let event = Permit2::UnorderedNonceInvalidation::SIGNATURE_HASH;
    let topics = vec![event, place(promise.payer).into_word()];
    let logs = lane.node.logs(&Filter { contract: noun(PERMIT2), topics, blocks }).await?;
    let (word, bit) = bit(promise);
    Ok(logs.iter().any(|log| {
        let topics = log.topics.iter().copied();
        let event = Permit2::UnorderedNonceInvalidation::decode_raw_log_validate(topics, &log.data);
        log.address == PERMIT2
            && event.is_ok_and(|event| event.word == word && !(event.mask & bit).is_zero())
    }))
}
