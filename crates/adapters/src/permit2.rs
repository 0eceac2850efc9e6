//! The proof on a chain that a Permit2 promise was spent on us, or never will be.
//!
//! A used nonce alone proves nothing: a payer can burn it. What proves a
//! payment is the transfer itself, in a transaction that settles this very
//! promise; what proves that there is none is an unused nonce behind the last
//! block that could take it, or Permit2's own word that the payer burned it.
//! Everything else is a doubt, and a person decides.
//!
//! [`trace`] is the whole judgement. [`nonce`], [`proof`], [`search::find`] and
//! [`Horizon`] are its parts, for whoever knows more than it does, such as a
//! transaction's hash.

use std::fmt;

use alloy_primitives::{Address, B256, U256, address};
use alloy_sol_types::{SolCall, SolEvent};
use order::chain::{EvmAddress, Network};
use order::evidence::BlockTag;
use order::ids::Timestamp;
use order::money::Usdc;
use order::payment::Finality;
use pay::movement::{Moved, Movement};
use pay::x402::facilitator::Due;

use crate::rpc::{At, Head, Known, Log, NoAnswer, Node, Outcome};

mod abi;
pub mod search;

use abi::Token;
use search::Found;

/// Uniswap's Permit2, the same on every chain.
pub const PERMIT2: EvmAddress =
    EvmAddress::from_bytes(address!("0x000000000022D473030F116dDEE9F6B43aC78BA3").0.0);

/// The x402 proxy of the scheme `upto`, the same on every chain.
pub const UPTO_PROXY: EvmAddress =
    EvmAddress::from_bytes(address!("0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002").0.0);

/// One movement of money that was asked for, as a chain would show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sought {
    pub network: Network,
    pub payer: EvmAddress,
    pub pay_to: EvmAddress,
    pub nonce: [u8; 32],
    pub amount: Usdc,
    /// In seconds of the chain's own time; a block of this very second still
    /// takes the promise.
    pub deadline: u64,
}

impl Sought {
    pub fn of(due: Due<'_>) -> Self {
        let Due { promise, charge, .. } = due;
        Self {
            network: promise.network,
            payer: promise.payer,
            pay_to: promise.pay_to,
            nonce: promise.nonce,
            amount: charge,
            deadline: promise.deadline,
        }
    }

    fn usdc(&self) -> Address {
        plain(self.network.usdc())
    }

    /// Where the nonce has its bit: the word of the bitmap, and the bit in it.
    fn place(&self) -> (U256, usize) {
        (U256::from_be_bytes(self.nonce) >> 8, usize::from(self.nonce[31]))
    }

    fn is_paid_by(&self, log: &Log) -> bool {
        let event = Token::Transfer::decode_raw_log(log.topics.iter().copied(), &log.data);
        log.address == self.usdc()
            && event.is_ok_and(|event| {
                event.from == plain(self.payer)
                    && event.to == plain(self.pay_to)
                    && event.value == U256::from(self.amount.atomic())
            })
    }

    /// What a transaction has to do with this promise.
    fn relation(&self, sent: &Known) -> Relation {
        let owner_and_nonce = (plain(self.payer), U256::from_be_bytes(self.nonce));
        if sent.to == Some(plain(UPTO_PROXY))
            && let Some(settled) = abi::owner_and_nonce(&sent.input)
        {
            // The proxy spends what its arguments name, and nothing else.
            return if settled == owner_and_nonce { Relation::Settles } else { Relation::None };
        }
        // The token by itself spends nobody's promise.
        if sent.to == Some(self.usdc()) || !sent.input.windows(32).any(|word| word == self.nonce) {
            return Relation::None;
        }
        Relation::Mentions
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Settles,
    /// A contract of somebody's own, which may do anything.
    Mentions,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nonce {
    Used,
    Unused,
}

/// Whether a block's state has the nonce as used.
pub async fn nonce(node: &Node, sought: &Sought, at: At) -> Result<Nonce, NoAnswer> {
    let (word, bit) = sought.place();
    let asked = abi::Permit2::nonceBitmapCall { owner: plain(sought.payer), word };
    let said = node.call(PERMIT2, &asked.abi_encode(), at).await?;
    // Where there is no such contract, a call answers with nothing.
    let bitmap: [u8; 32] = said[..].try_into().map_err(|_| NoAnswer::Unusable)?;
    Ok(if U256::from_be_bytes(bitmap).bit(bit) { Nonce::Used } else { Nonce::Unused })
}

/// How far a chain has come, and how much of it stands for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Horizon {
    pub latest: Head,
    pub finalized: Head,
}

impl Horizon {
    pub async fn of(node: &Node) -> Result<Self, NoAnswer> {
        let finalized = node.block(At::Tag(BlockTag::Finalized)).await?;
        let latest = node.block(At::Tag(BlockTag::Latest)).await?;
        if latest.number < finalized.number {
            return Err(NoAnswer::Unusable);
        }
        Ok(Self { latest, finalized })
    }

    /// Whether every block that takes such a promise stands for good.
    pub const fn is_past(&self, deadline: u64) -> bool {
        self.finalized.timestamp > deadline
    }

    pub const fn finality(&self, block: u64) -> Finality {
        if block <= self.finalized.number { Finality::Final } else { Finality::Provisional }
    }
}

/// The transfer that was asked for, in its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    pub transaction: B256,
    pub block: u64,
    /// The block's time.
    pub at: u64,
}

impl Transfer {
    pub fn moved(&self, horizon: &Horizon) -> Moved {
        Moved {
            transaction: self.transaction.to_string(),
            at: Timestamp(self.at),
            finality: horizon.finality(self.block),
        }
    }
}

/// What one transaction proves about a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    Transfer(Transfer),
    /// It is about something else.
    Other,
    /// It has to do with this promise, and is not the transfer that was asked for.
    Unclear,
    Reverted,
    /// It is in no block.
    Absent,
}

/// Looks at one transaction.
pub async fn proof(node: &Node, sought: &Sought, transaction: B256) -> Result<Proof, NoAnswer> {
    let Some(receipt) = node.receipt(transaction).await? else { return Ok(Proof::Absent) };
    match receipt.outcome {
        Outcome::Reverted => return Ok(Proof::Reverted),
        Outcome::Succeeded => {}
    }
    let sent = node.transaction(transaction).await?.ok_or(NoAnswer::Unusable)?;
    match sought.relation(&sent) {
        Relation::None => return Ok(Proof::Other),
        Relation::Mentions => return Ok(Proof::Unclear),
        Relation::Settles => {}
    }
    if !receipt.logs.iter().any(|log| sought.is_paid_by(log)) {
        return Ok(Proof::Unclear);
    }
    let head = node.block(At::Number(receipt.block)).await?;
    if head.hash != receipt.block_hash {
        // The chain changed while we looked.
        return Err(NoAnswer::Unusable);
    }
    Ok(Proof::Transfer(Transfer { transaction, block: receipt.block, at: head.timestamp }))
}

/// Why nothing can be said about a movement of money.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// A node gave no good answer; the next look may.
    Node(NoAnswer),
    /// The nonce is used, and nobody wrote down from which block to look.
    NowhereToLook,
    /// The search went far and came to no end.
    TooFar,
    /// Something was done with this promise that nobody asked for.
    Unclear,
    /// The nonce is used, and nothing that can be seen has used it.
    Unexplained,
}

impl From<NoAnswer> for Doubt {
    fn from(why: NoAnswer) -> Self {
        Self::Node(why)
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(why) => write!(f, "a node said: {why}"),
            Self::NowhereToLook => {
                f.write_str("the nonce is used, and the block to search from is not known")
            }
            Self::TooFar => f.write_str("the nonce is used, too many blocks ago to search"),
            Self::Unclear => f.write_str(
                "a transaction spent this promise in another way than was asked; look at the chain",
            ),
            Self::Unexplained => {
                f.write_str("the nonce is used, and no event says by what; look at the chain")
            }
        }
    }
}

/// Finds out what became of a movement of money. It cannot be in a block
/// before `since`; none if that is not known.
pub async fn trace(node: &Node, sought: &Sought, since: Option<u64>) -> Result<Movement, Doubt> {
    let horizon = Horizon::of(node).await?;
    let over = horizon.is_past(sought.deadline);
    // Used nonces stay used. Unused now is unused in every block before, so
    // nobody needs to remember the state of the finalized block.
    match nonce(node, sought, At::Number(horizon.latest.number)).await? {
        Nonce::Unused if over => return Ok(Movement::Void),
        Nonce::Unused => return Ok(Movement::Open),
        Nonce::Used => {}
    }
    let since = since.ok_or(Doubt::NowhereToLook)?;
    match search::find(node, sought, since, horizon.latest.number).await? {
        Found::Transfer(transfer) => Ok(Movement::Moved(transfer.moved(&horizon))),
        Found::Unclear => Err(Doubt::Unclear),
        Found::Burned { block } => Ok(match horizon.finality(block) {
            Finality::Final => Movement::Void,
            Finality::Provisional => Movement::Open,
        }),
        // Events may be a moment behind the state; only in the end is it strange.
        Found::Nothing if over => Err(Doubt::Unexplained),
        Found::Nothing => Ok(Movement::Open),
    }
}

fn plain(address: EvmAddress) -> Address {
    address.bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUGHT: Sought = Sought {
        network: Network::Base,
        payer: EvmAddress::from_bytes([7; 20]),
        pay_to: EvmAddress::from_bytes([8; 20]),
        nonce: [0x42; 32],
        amount: Usdc::from_atomic(2_117_500),
        deadline: 1_794_700_300,
    };

    fn sent(to: EvmAddress, input: impl Into<Vec<u8>>) -> Known {
        let input = input.into().into();
        Known { from: Address::ZERO, to: Some(plain(to)), input }
    }

    #[test]
    fn a_contract_of_somebodys_own_that_names_the_promise_is_unclear() {
        let stranger = EvmAddress::from_bytes([9; 20]);
        let named = [&[1, 2, 3, 4][..], &SOUGHT.nonce, b"behind it"].concat();
        assert_eq!(SOUGHT.relation(&sent(stranger, named.clone())), Relation::Mentions);
        assert_eq!(SOUGHT.relation(&sent(UPTO_PROXY, named.clone())), Relation::Mentions);
        assert_eq!(SOUGHT.relation(&sent(stranger, [0x42; 31])), Relation::None);
        // The token cannot spend a promise, whatever amount it is told.
        assert_eq!(SOUGHT.relation(&sent(Network::Base.usdc(), named)), Relation::None);
    }

    #[test]
    fn the_bit_of_a_nonce_is_where_permit2_looks_for_it() {
        let mut nonce = [0; 32];
        (nonce[30], nonce[31]) = (3, 200);
        let sought = Sought { nonce, ..SOUGHT };
        assert_eq!(sought.place(), (U256::from(3), 200));
    }

    #[test]
    fn a_deadline_is_past_only_behind_the_finalized_block() {
        let head = |number, timestamp| Head { number, hash: B256::ZERO, timestamp };
        let horizon = Horizon { latest: head(20, 500), finalized: head(10, 400) };
        assert!(horizon.is_past(399) && !horizon.is_past(400) && !horizon.is_past(450));
        assert_eq!(horizon.finality(10), Finality::Final);
        assert_eq!(horizon.finality(11), Finality::Provisional);
    }
}
