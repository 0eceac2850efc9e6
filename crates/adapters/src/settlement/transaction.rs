//! A settlement transaction of our own: signed, and known by its hash before it is sent.

use std::fmt;

use alloy_primitives::{B256, Bytes};
use evm::signature::SigningKey;
use evm::transaction::{self, UnsignedTransaction};
use order::model::chain::EvmAddress;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::fees::Fees;

/// An EIP-1559 transaction before its signature. It carries no coin of the chain.
pub(super) struct Unsigned<'a> {
    pub(super) chain_id: u64,
    pub(super) nonce: u64,
    pub(super) fees: Fees,
    pub(super) gas: u64,
    pub(super) to: EvmAddress,
    pub(super) data: &'a [u8],
}

/// A transaction that any node takes as it is.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedTransaction {
    pub nonce: u64,
    pub fees: Fees,
    pub hash: B256,
    pub raw: Bytes,
}

impl SignedTransaction {
    /// Whether the bytes are those that the hash was made of.
    pub(super) fn is_whole(&self) -> bool {
        transaction::hash(&self.raw) == self.hash
    }
}

/// The 32 bytes are no private key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAKey;

impl std::error::Error for NotAKey {}

impl fmt::Display for NotAKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "The settler's key is no private key: it is zero or above the curve's order. \
             Make a new one from 32 random bytes.",
        )
    }
}

/// The account that sends settlements. It cannot print its key.
pub(super) struct TransactionSigner {
    key: SigningKey,
    address: EvmAddress,
}

impl TransactionSigner {
    pub(super) fn new(key: &Zeroizing<[u8; 32]>) -> Result<Self, NotAKey> {
        let key = SigningKey::from_bytes(key).map_err(|_| NotAKey)?;
        let address = EvmAddress::from_bytes(key.address());
        Ok(Self { key, address })
    }

    pub(super) fn address(&self) -> EvmAddress {
        self.address
    }

    pub(super) fn sign(&self, unsigned: &Unsigned<'_>) -> SignedTransaction {
        let Unsigned { chain_id, nonce, fees, gas, to, data } = *unsigned;
        let transaction = UnsignedTransaction {
            chain_id,
            nonce,
            priority_fee: fees.tip,
            max_fee: fees.most,
            gas,
            to: to.bytes(),
            value: 0,
            data: data.to_vec(),
        };
        let raw = transaction.sign(&self.key);
        SignedTransaction { nonce, fees, hash: transaction::hash(&raw).into(), raw: raw.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_no_key() {
        assert_eq!(TransactionSigner::new(&Zeroizing::new([0; 32])).err(), Some(NotAKey));
        assert_eq!(TransactionSigner::new(&Zeroizing::new([0xff; 32])).err(), Some(NotAKey));
    }
}
