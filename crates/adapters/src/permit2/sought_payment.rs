//! The payment that is looked for on the chain, and which transactions can be its settlement.

use alloy_primitives::{Address, U256};
use evm::contracts;
use evm::permit2::bitmap_position;
use order::model::chain::{EvmAddress, Network};
use order::model::money::Usdc;
use pay::x402::settler::Permit2Payment;

use super::settle_call;
use crate::rpc::{RpcTransaction, to_alloy};

/// Uniswap's Permit2, the same on every chain.
pub const PERMIT2: EvmAddress = EvmAddress::from_bytes(contracts::PERMIT2);

/// The x402 proxy of the scheme `upto`, the same on every chain.
pub const UPTO_PROXY: EvmAddress = EvmAddress::from_bytes(contracts::UPTO_PROXY);

/// A payment that may have been settled, as a chain would show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoughtPayment {
    pub network: Network,
    pub payer: EvmAddress,
    pub pay_to: EvmAddress,
    pub nonce: [u8; 32],
    pub amount: Usdc,
    /// In seconds of the chain's own time. A block of this second still accepts it.
    pub deadline: u64,
}

impl SoughtPayment {
    pub fn of(due: Permit2Payment<'_>) -> Self {
        let Permit2Payment { authorization, charge, .. } = due;
        Self {
            network: authorization.network,
            payer: authorization.payer,
            pay_to: authorization.pay_to,
            nonce: authorization.nonce,
            amount: charge,
            deadline: authorization.deadline,
        }
    }

    pub(super) fn usdc(&self) -> Address {
        to_alloy(self.network.usdc())
    }

    /// Whether a transaction that paid the seller, in the block that used the nonce, settles
    /// this payment.
    pub(super) fn relation(&self, sent: &RpcTransaction) -> Relation {
        let owner_and_nonce = (to_alloy(self.payer), U256::from_be_bytes(self.nonce));
        if sent.to == Some(to_alloy(UPTO_PROXY))
            && let Some(settled) = settle_call::owner_and_nonce(&sent.input)
        {
            // The proxy spends what its arguments name, and nothing else.
            return if settled == owner_and_nonce { Relation::Settles } else { Relation::None };
        }
        // The token itself spends no authorization.
        if sent.to == Some(self.usdc()) { Relation::None } else { Relation::Unknown }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Settles,
    /// Another contract, which may do anything.
    Unknown,
    None,
}

/// Where Permit2 marks a nonce: the word of its bitmap, and the bit in it.
pub(crate) fn word_and_bit(nonce: [u8; 32]) -> (U256, U256) {
    let (word, bit) = bitmap_position(nonce);
    (U256::from_be_bytes(word), U256::ONE << usize::from(bit))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUGHT: SoughtPayment = SoughtPayment {
        network: Network::Base,
        payer: EvmAddress::from_bytes([7; 20]),
        pay_to: EvmAddress::from_bytes([8; 20]),
        nonce: [0x42; 32],
        amount: Usdc::from_atomic(2_117_500),
        deadline: 1_794_700_300,
    };

    fn sent(to: EvmAddress, input: impl Into<Vec<u8>>) -> RpcTransaction {
        let input = input.into().into();
        RpcTransaction { from: Address::ZERO, to: Some(to_alloy(to)), input }
    }

    #[test]
    fn another_contract_that_pays_the_seller_is_unclear() {
        let stranger = EvmAddress::from_bytes([9; 20]);
        let named = [&[1, 2, 3, 4][..], &SOUGHT.nonce, b"behind it"].concat();
        assert_eq!(SOUGHT.relation(&sent(stranger, named.clone())), Relation::Unknown);
        assert_eq!(SOUGHT.relation(&sent(stranger, [])), Relation::Unknown);
        assert_eq!(SOUGHT.relation(&sent(UPTO_PROXY, named.clone())), Relation::Unknown);
        // The token cannot spend an authorization.
        assert_eq!(SOUGHT.relation(&sent(Network::Base.usdc(), named)), Relation::None);
    }
}
