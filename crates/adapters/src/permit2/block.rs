//! What the block that used an authorization's nonce shows of the payment.

use alloy_primitives::{B256, U256};
use alloy_sol_types::SolEvent;
use evm::interfaces::{Permit2, Usdc as UsdcContract};
use order::model::ids::Timestamp;
use pay::transfer::ConfirmedTransfer;

use super::sought_payment::{PERMIT2, Relation, SoughtPayment, word_and_bit};
use crate::rpc::{BlockHead, EventLog, LogFilter, Node, NodeError, ReceiptStatus, to_alloy};
use crate::settlement::proof::ChainHeads;

/// What was found, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Transfer(Transfer),
    /// The authorization was used in an unexpected way.
    Unclear,
    /// The payer cancelled the nonce, or paid another account with it.
    Elsewhere,
    /// Nothing that could have used the nonce: the node's answer is incomplete.
    Nothing,
}

/// The transfer that was asked for, in its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transfer {
    transaction: B256,
    block: BlockHead,
}

impl Transfer {
    pub(super) fn moved(&self, heads: &ChainHeads) -> ConfirmedTransfer {
        ConfirmedTransfer {
            transaction: self.transaction.to_string(),
            at: Timestamp(self.block.timestamp),
            finality: heads.finality(self.block.number),
        }
    }
}

impl Found {
    const fn weight(&self) -> u8 {
        match self {
            Self::Transfer(_) => 3,
            Self::Unclear => 2,
            Self::Elsewhere => 1,
            Self::Nothing => 0,
        }
    }

    fn or(self, other: Self) -> Self {
        if other.weight() > self.weight() { other } else { self }
    }
}

/// Everything that left the payer's account in this block, and every nonce that the
/// payer burned there, in one answer: a node that tells any of it tells all of it, so
/// what is missing beside the rest did not happen.
pub(super) async fn look(
    node: &Node,
    sought: &SoughtPayment,
    block: BlockHead,
) -> Result<Found, NodeError> {
    let events = vec![
        UsdcContract::Transfer::SIGNATURE_HASH,
        Permit2::UnorderedNonceInvalidation::SIGNATURE_HASH,
    ];
    let payer = vec![to_alloy(sought.payer).into_word()];
    let (contracts, topics) = (Vec::new(), vec![events, payer]);
    let logs = node.logs(&LogFilter { block: block.hash, contracts, topics }).await?;
    let mut found = Found::Nothing;
    let mut seen: Vec<B256> = Vec::new();
    for log in &logs {
        found = found.or(match sought.sort(log) {
            Sort::ToSeller if seen.contains(&log.transaction) => Found::Nothing,
            Sort::ToSeller => {
                seen.push(log.transaction);
                judge_transaction(node, sought, log.transaction, block).await?
            }
            Sort::Burns | Sort::ToOthers => Found::Elsewhere,
            Sort::OtherNonce => Found::Nothing,
        });
    }
    Ok(found)
}

/// What an event of the payer's says at first sight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    /// Money to the seller. The amount is judged with the transaction.
    ToSeller,
    /// A transfer of any token to another account.
    ToOthers,
    /// This very nonce was burned.
    Burns,
    /// Others were.
    OtherNonce,
}

impl SoughtPayment {
    fn sort(&self, log: &EventLog) -> Sort {
        if log.topics.first() == Some(&Permit2::UnorderedNonceInvalidation::SIGNATURE_HASH) {
            return if self.is_burned_by(log) { Sort::Burns } else { Sort::OtherNonce };
        }
        let to_seller = log.topics.get(2) == Some(&to_alloy(self.pay_to).into_word());
        if log.address == self.usdc() && to_seller { Sort::ToSeller } else { Sort::ToOthers }
    }

    fn is_burned_by(&self, log: &EventLog) -> bool {
        let topics = log.topics.iter().copied();
        let event = Permit2::UnorderedNonceInvalidation::decode_raw_log(topics, &log.data);
        let (word, bit) = word_and_bit(self.nonce);
        log.address == to_alloy(PERMIT2)
            && event.is_ok_and(|event| {
                event.owner == to_alloy(self.payer)
                    && event.word == word
                    && !(event.mask & bit).is_zero()
            })
    }

    fn is_paid_by(&self, log: &EventLog) -> bool {
        let event = UsdcContract::Transfer::decode_raw_log(log.topics.iter().copied(), &log.data);
        log.address == self.usdc()
            && event.is_ok_and(|event| {
                event.from == to_alloy(self.payer)
                    && event.to == to_alloy(self.pay_to)
                    && event.value == U256::from(self.amount.atomic())
            })
    }
}

/// What a transaction that paid the seller has to do with this authorization.
pub(super) async fn judge_transaction(
    node: &Node,
    sought: &SoughtPayment,
    transaction: B256,
    block: BlockHead,
) -> Result<Found, NodeError> {
    // Its event was here a moment ago, so all of it must be.
    let receipt = node.receipt(transaction).await?.ok_or(NodeError::Unusable)?;
    let sent = node.transaction(transaction).await?.ok_or(NodeError::Unusable)?;
    if receipt.block_hash != block.hash || receipt.outcome != ReceiptStatus::Succeeded {
        return Err(NodeError::Unusable);
    }
    Ok(match sought.relation(&sent) {
        Relation::None => Found::Nothing,
        Relation::Unknown => Found::Unclear,
        Relation::Settles if receipt.logs.iter().any(|log| sought.is_paid_by(log)) => {
            Found::Transfer(Transfer { transaction, block })
        }
        Relation::Settles => Found::Unclear,
    })
}

#[cfg(test)]
mod tests {
    use order::model::chain::{EvmAddress, Network};
    use order::model::money::Usdc;

    use super::*;

    #[test]
    fn a_transfer_outweighs_everything_and_a_doubt_outweighs_another_use() {
        let (hash, parent) = (B256::ZERO, B256::ZERO);
        let block = BlockHead { number: 1, hash, parent, timestamp: 1 };
        let transfer = Transfer { transaction: B256::ZERO, block };
        let ranked = [Found::Transfer(transfer), Found::Unclear, Found::Elsewhere, Found::Nothing];
        for (place, stronger) in ranked.into_iter().enumerate() {
            for weaker in &ranked[place..] {
                assert_eq!(stronger.or(*weaker), stronger);
                assert_eq!(weaker.or(stronger), stronger);
            }
        }
    }

    #[test]
    fn only_this_nonce_or_money_that_went_elsewhere_explains_a_used_nonce() {
        let sought = SoughtPayment {
            network: Network::Base,
            payer: EvmAddress::from_bytes([7; 20]),
            pay_to: EvmAddress::from_bytes([8; 20]),
            nonce: [0x42; 32],
            amount: Usdc::from_atomic(5),
            deadline: 9,
        };
        let (word, bit) = word_and_bit(sought.nonce);
        let log = |address: EvmAddress, event: alloy_primitives::LogData| EventLog {
            address: to_alloy(address),
            topics: event.topics().to_vec(),
            data: event.data,
            transaction: B256::ZERO,
            block: 1,
            block_hash: B256::ZERO,
            removed: false,
        };
        let owner = to_alloy(sought.payer);
        let burned = |word, mask| {
            let event = Permit2::UnorderedNonceInvalidation { owner, word, mask };
            sought.sort(&log(PERMIT2, event.encode_log_data()))
        };
        assert_eq!(burned(word, bit | U256::ONE), Sort::Burns);
        assert_eq!(burned(word, !bit), Sort::OtherNonce);
        assert_eq!(burned(word + U256::ONE, bit), Sort::OtherNonce);
        let sent = |token: EvmAddress, to: EvmAddress| {
            let event = UsdcContract::Transfer { from: owner, to: to_alloy(to), value: U256::ONE };
            sought.sort(&log(token, event.encode_log_data()))
        };
        assert_eq!(sent(sought.network.usdc(), sought.pay_to), Sort::ToSeller);
        assert_eq!(sent(sought.network.usdc(), PERMIT2), Sort::ToOthers);
        assert_eq!(sent(PERMIT2, sought.pay_to), Sort::ToOthers, "another token");
    }
}
