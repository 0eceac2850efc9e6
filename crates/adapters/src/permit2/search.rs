//! Looks through a payer's events for what used a nonce.

use alloy_primitives::B256;
use alloy_sol_types::SolEvent;

use super::abi::{Permit2, Token};
use super::{Doubt, PERMIT2, Proof, Sought, Transfer, plain, proof};
use crate::rpc::{At, Filter, Log, NoAnswer, Node};

/// How many blocks one question is about; nodes answer no more for free.
const WINDOW: u64 = 2_000;
/// And how many questions are asked about one payment.
const WINDOWS_MAX: u32 = 64;

/// What was found, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    Transfer(Transfer),
    /// The promise was used in a way that nobody asked for.
    Unclear,
    /// The payer made the nonce worthless. It may have been used before that.
    Burned {
        block: u64,
    },
    Nothing,
}

impl Found {
    const fn weight(&self) -> u8 {
        match self {
            Self::Transfer(_) => 3,
            Self::Unclear => 2,
            Self::Burned { .. } => 1,
            Self::Nothing => 0,
        }
    }

    fn or(self, other: Self) -> Self {
        if other.weight() > self.weight() { other } else { self }
    }
}

/// Looks from block `since` to block `latest`, or until no block can take the
/// promise any more.
pub async fn find(node: &Node, sought: &Sought, since: u64, latest: u64) -> Result<Found, Doubt> {
    let mut found = Found::Nothing;
    let mut first = since;
    for _ in 0..WINDOWS_MAX {
        let last = first.saturating_add(WINDOW - 1).min(latest);
        found = found.or(look(node, sought, first, last).await?);
        if last >= latest || matches!(found, Found::Transfer(_)) {
            return Ok(found);
        }
        if node.block(At::Number(last)).await?.timestamp > sought.deadline {
            return Ok(found);
        }
        first = last + 1;
    }
    Err(Doubt::TooFar)
}

async fn look(node: &Node, sought: &Sought, first: u64, last: u64) -> Result<Found, NoAnswer> {
    let (payer, seller) = (plain(sought.payer).into_word(), plain(sought.pay_to).into_word());
    // Whatever this promise moves, it moves to the seller; the amount is judged
    // with the transaction.
    let transfers = Filter {
        contract: sought.network.usdc(),
        topics: vec![Token::Transfer::SIGNATURE_HASH, payer, seller],
        blocks: (first, last),
    };
    let mut found = Found::Nothing;
    let mut seen: Vec<B256> = Vec::new();
    for log in node.logs(&transfers).await? {
        if seen.contains(&log.transaction) {
            continue;
        }
        seen.push(log.transaction);
        found = found.or(match proof(node, sought, log.transaction).await? {
            Proof::Transfer(transfer) => return Ok(Found::Transfer(transfer)),
            Proof::Other => Found::Nothing,
            Proof::Unclear => Found::Unclear,
            // Its event was here a moment ago.
            Proof::Reverted | Proof::Absent => return Err(NoAnswer::Unusable),
        });
    }
    let burnings = Filter {
        contract: PERMIT2,
        topics: vec![Permit2::UnorderedNonceInvalidation::SIGNATURE_HASH, payer],
        blocks: (first, last),
    };
    for log in node.logs(&burnings).await?.iter().filter(|log| burns(sought, log)) {
        found = found.or(Found::Burned { block: log.block });
    }
    Ok(found)
}

fn burns(sought: &Sought, log: &Log) -> bool {
    let topics = log.topics.iter().copied();
    let event = Permit2::UnorderedNonceInvalidation::decode_raw_log(topics, &log.data);
    let (word, bit) = sought.place();
    log.address == plain(PERMIT2)
        && event.is_ok_and(|event| {
            event.owner == plain(sought.payer) && event.word == word && event.mask.bit(bit)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_outweighs_everything_and_a_doubt_outweighs_a_burned_nonce() {
        let transfer = Transfer { transaction: B256::ZERO, block: 1, at: 1 };
        let ranked =
            [Found::Transfer(transfer), Found::Unclear, Found::Burned { block: 7 }, Found::Nothing];
        for (place, stronger) in ranked.into_iter().enumerate() {
            for weaker in &ranked[place..] {
                assert_eq!(stronger.or(*weaker), stronger);
                assert_eq!(weaker.or(stronger), stronger);
            }
        }
        // Of two, the first in the chain made it worthless.
        let (early, late) = (Found::Burned { block: 7 }, Found::Burned { block: 8 });
        assert_eq!(early.or(late), early);
    }
}
