//! Signed transactions, with the values that the chain computes with.

use alloy_primitives::{Address, B256, Bytes, U256};
use evm::transaction::{self, InvalidTransaction, TransactionType};

/// A transaction whose signature has been checked.
#[derive(Clone, Debug)]
pub(crate) struct Transaction {
    pub(crate) transaction_type: TransactionType,
    pub(crate) chain_id: u64,
    pub(crate) nonce: u64,
    pub(crate) priority_fee: U256,
    pub(crate) max_fee: U256,
    pub(crate) gas: u64,
    pub(crate) to: Option<Address>,
    pub(crate) value: U256,
    pub(crate) data: Bytes,
    pub(crate) v: u64,
    pub(crate) r: B256,
    pub(crate) s: B256,
    pub(crate) hash: B256,
    pub(crate) from: Address,
}

impl Transaction {
    /// The error is in the words of a real node.
    pub(crate) fn decode(raw: &[u8]) -> Result<Self, String> {
        let sent = transaction::decode(raw).map_err(|reason| {
            let words = match reason {
                InvalidTransaction::UnsupportedType => "transaction type not supported",
                InvalidTransaction::Malformed => "rlp: the bytes are not a transaction",
                InvalidTransaction::NotReplayProtected => {
                    "only replay-protected (EIP-155) transactions allowed over RPC"
                }
                InvalidTransaction::Signature => {
                    "invalid sender: the signature recovers to no account"
                }
            };
            words.to_owned()
        })?;
        Ok(Self {
            transaction_type: sent.transaction_type,
            chain_id: sent.chain_id,
            nonce: sent.nonce,
            priority_fee: U256::from_be_bytes(sent.priority_fee),
            max_fee: U256::from_be_bytes(sent.max_fee),
            gas: sent.gas,
            to: sent.to.map(Address::from),
            value: U256::from_be_bytes(sent.value),
            data: sent.data.into(),
            v: sent.v,
            r: sent.r.into(),
            s: sent.s.into(),
            hash: sent.hash.into(),
            from: sent.from.into(),
        })
    }

    /// What one unit of gas costs in a block with this base fee.
    pub(crate) fn price(&self, base_fee: U256) -> U256 {
        self.max_fee.min(base_fee.saturating_add(self.priority_fee))
    }

    /// The most that this transaction can take from its sender.
    pub(crate) fn worst_cost(&self) -> U256 {
        U256::from(self.gas).saturating_mul(self.max_fee).saturating_add(self.value)
    }
}

#[cfg(test)]
mod tests {
    use evm::transaction::UnsignedTransaction;

    use super::*;
    use crate::keys::Key;

    #[test]
    fn a_unit_of_gas_costs_the_base_fee_and_the_tip_up_to_the_maximum() {
        let unsigned = UnsignedTransaction {
            chain_id: 8453,
            nonce: 7,
            priority_fee: 1_000_000,
            max_fee: 2_000_000_000,
            gas: 120_000,
            to: [7; 20],
            value: 5,
            data: vec![1],
        };
        let key = Key::derive(&[1; 32], "payer");
        let transaction = Transaction::decode(&unsigned.sign(key.signing_key())).unwrap();
        assert_eq!(transaction.from, Address::from(key.address().bytes()));
        assert_eq!(transaction.price(U256::from(1_000_000)), U256::from(2_000_000));
        assert_eq!(transaction.price(U256::from(3_000_000_000_u64)), transaction.max_fee);
        assert_eq!(transaction.worst_cost(), U256::from(240_000_000_000_005_u64));
    }

    #[test]
    fn other_bytes_are_refused_in_the_words_of_a_node() {
        for (raw, words) in [
            (vec![], "transaction type not supported"),
            (vec![0x01, 0xc0], "transaction type not supported"),
            (vec![0x02, 0xc0], "rlp: the bytes are not a transaction"),
        ] {
            assert_eq!(Transaction::decode(&raw).unwrap_err(), words);
        }
    }
}
