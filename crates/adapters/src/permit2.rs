//! The proof on a chain that a Permit2 promise was spent on us, or never will be.
//!
//! A used nonce alone proves nothing: a payer can burn it. What proves a
//! payment is the transfer itself, in a transaction that settles this very
//! promise. What proves that there is none is an unused nonce behind the last
//! block that could take it, or the block that used it (see [`crate::nonce`])
//! together with what that block shows in its place. Everything else is a doubt,
//! and a person decides.
//!
//! [`trace`] is the whole judgement, and [`judge`] the same for whoever knows by
//! itself which blocks stand for good.

use alloy_primitives::{Address, B256, U256, address};
use alloy_sol_types::SolCall;
use order::model::chain::{EvmAddress, Network};
use order::model::money::Usdc;
use order::model::payment::Finality;
use pay::movement::Movement;
use pay::x402::facilitator::Due;

use crate::nonce::{Doubt, Fate, Horizon, Nonce};
use crate::rpc::{At, Known, NoAnswer, Node, Outcome};

mod abi;
mod block;

use block::{Found, Transfer};

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

    /// What a transaction that paid the seller, in the block that used the nonce, has
    /// to do with this promise.
    fn relation(&self, sent: &Known) -> Relation {
        let owner_and_nonce = (plain(self.payer), U256::from_be_bytes(self.nonce));
        if sent.to == Some(plain(UPTO_PROXY))
            && let Some(settled) = abi::owner_and_nonce(&sent.input)
        {
            // The proxy spends what its arguments name, and nothing else.
            return if settled == owner_and_nonce { Relation::Settles } else { Relation::None };
        }
        // The token by itself spends nobody's promise.
        if sent.to == Some(self.usdc()) { Relation::None } else { Relation::Unknown }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Settles,
    /// A contract of somebody's own, which may do anything.
    Unknown,
    None,
}

/// A nonce of Permit2's, as it is asked about.
pub fn nonce(payer: EvmAddress, nonce: [u8; 32]) -> Nonce {
    let (word, bit) = place(nonce);
    let asked = abi::Permit2::nonceBitmapCall { owner: plain(payer), word };
    Nonce { contract: PERMIT2, question: asked.abi_encode(), bit }
}

/// Where Permit2 marks a nonce: the word of its bitmap, and the bit in it.
pub(crate) fn place(nonce: [u8; 32]) -> (U256, U256) {
    (U256::from_be_bytes(nonce) >> 8, U256::ONE << usize::from(nonce[31]))
}

/// What makes a search shorter. None of it is believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// A block before the movement.
    pub since: Option<u64>,
    /// The transaction that is said to have moved it.
    pub told: Option<B256>,
}

/// Finds out what became of a movement of money.
pub async fn trace(node: &Node, sought: &Sought, hints: Hints) -> Result<Movement, Doubt> {
    judge(node, sought, &Horizon::of(node).await?, hints).await
}

/// The same, where the blocks that stand for good are known.
pub async fn judge(
    node: &Node,
    sought: &Sought,
    horizon: &Horizon,
    Hints { since, told }: Hints,
) -> Result<Movement, Doubt> {
    if let Some(told) = told
        && let Some(transfer) = shown(node, sought, told).await?
    {
        return Ok(Movement::Moved(transfer.moved(horizon)));
    }
    let over = horizon.is_past(sought.deadline);
    let used_in = match nonce(sought.payer, sought.nonce).fate(node, horizon, since).await? {
        Fate::Unused if over => return Ok(Movement::Void),
        Fate::Unused => return Ok(Movement::Open),
        Fate::UsedIn(block) => block,
    };
    match block::look(node, sought, used_in).await? {
        Found::Transfer(transfer) => Ok(Movement::Moved(transfer.moved(horizon))),
        Found::Unclear => Err(Doubt::Unclear),
        Found::Elsewhere => Ok(match horizon.finality(used_in.number) {
            Finality::Final => Movement::Void,
            Finality::Provisional => Movement::Open,
        }),
        // Events may be a moment behind the state; only in the end is it strange.
        Found::Nothing if over => Err(Doubt::Unexplained),
        Found::Nothing => Ok(Movement::Open),
    }
}

/// The movement in a transaction of which we were told, if it is there. That needs no
/// state of a block, which most nodes forget long before the block is final.
async fn shown(node: &Node, sought: &Sought, told: B256) -> Result<Option<Transfer>, NoAnswer> {
    let Some(receipt) = node.receipt(told).await? else { return Ok(None) };
    let block = match node.block(At::Number(receipt.block)).await {
        Err(NoAnswer::UnknownBlock) => return Ok(None),
        block => block?,
    };
    if block.hash != receipt.block_hash || receipt.outcome != Outcome::Succeeded {
        return Ok(None);
    }
    match block::judge(node, sought, told, block).await? {
        Found::Transfer(transfer) => Ok(Some(transfer)),
        Found::Unclear | Found::Elsewhere | Found::Nothing => Ok(None),
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
    fn a_contract_of_somebodys_own_that_pays_the_seller_is_unclear() {
        let stranger = EvmAddress::from_bytes([9; 20]);
        let named = [&[1, 2, 3, 4][..], &SOUGHT.nonce, b"behind it"].concat();
        assert_eq!(SOUGHT.relation(&sent(stranger, named.clone())), Relation::Unknown);
        assert_eq!(SOUGHT.relation(&sent(stranger, [])), Relation::Unknown);
        assert_eq!(SOUGHT.relation(&sent(UPTO_PROXY, named.clone())), Relation::Unknown);
        // The token cannot spend a promise, whatever amount it is told.
        assert_eq!(SOUGHT.relation(&sent(Network::Base.usdc(), named)), Relation::None);
    }

    #[test]
    fn the_bit_of_a_nonce_is_where_permit2_looks_for_it() {
        let mut nonce = [0; 32];
        (nonce[30], nonce[31]) = (3, 200);
        assert_eq!(place(nonce), (U256::from(3), U256::ONE << 200));
    }
}
