//! A transaction of ours: written, signed, and known by its hash before anybody sees it.

use std::fmt;

use alloy_primitives::{Address, B256, Bytes, keccak256};
use order::model::chain::EvmAddress;
use secp256k1::ecdsa::RecoveryId;
use secp256k1::{Message, PublicKey, Secp256k1, SecretKey, SignOnly};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::fees::Fees;
use super::rlp;

/// The EIP-2718 number of a transaction that names its fees as EIP-1559 has them.
const DYNAMIC_FEE: u8 = 2;

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
        keccak256(&self.raw) == self.hash
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

/// The account that carries payments. It cannot print its key.
pub(super) struct Signer {
    secret: SecretKey,
    curve: Secp256k1<SignOnly>,
    address: EvmAddress,
}

impl Signer {
    pub(super) fn new(key: &Zeroizing<[u8; 32]>) -> Result<Self, NotAKey> {
        let secret = SecretKey::from_byte_array(**key).map_err(|_| NotAKey)?;
        let curve = Secp256k1::signing_only();
        let public = PublicKey::from_secret_key(&curve, &secret).serialize_uncompressed();
        let address = EvmAddress::from_bytes(Address::from_raw_public_key(&public[1..]).into());
        Ok(Self { secret, curve, address })
    }

    pub(super) fn address(&self) -> EvmAddress {
        self.address
    }

    pub(super) fn sign(&self, unsigned: &Unsigned<'_>) -> SignedTransaction {
        let mut items = unsigned.items();
        let digest = keccak256(envelope(&items));
        let signature =
            self.curve.sign_ecdsa_recoverable(Message::from_digest(digest.0), &self.secret);
        let (parity, compact) = signature.serialize_compact();
        let parity = if parity == RecoveryId::One { 1 } else { 0 };
        items.extend([rlp::number(parity), rlp::word(&compact[..32]), rlp::word(&compact[32..])]);
        let raw = envelope(&items);
        let (nonce, fees) = (unsigned.nonce, unsigned.fees);
        SignedTransaction { nonce, fees, hash: keccak256(&raw), raw: raw.into() }
    }
}

impl Drop for Signer {
    fn drop(&mut self) {
        self.secret.non_secure_erase();
    }
}

impl Unsigned<'_> {
    fn items(&self) -> Vec<Vec<u8>> {
        vec![
            rlp::number(self.chain_id.into()),
            rlp::number(self.nonce.into()),
            rlp::number(self.fees.tip),
            rlp::number(self.fees.most),
            rlp::number(self.gas.into()),
            rlp::bytes(&self.to.bytes()),
            rlp::number(0),
            rlp::bytes(self.data),
            rlp::list(&[]),
        ]
    }
}

fn envelope(items: &[Vec<u8>]) -> Vec<u8> {
    [vec![DYNAMIC_FEE], rlp::list(items)].concat()
}

#[cfg(test)]
mod tests {
    use sandbox::chain;
    use sandbox::keys::Key;

    use super::*;

    /// The sandbox has its own writer and its own signer of transactions.
    #[test]
    fn two_hands_write_the_same_bytes() {
        let lengths: [u8; 4] = [0, 1, 60, 255];
        for (nonce, length) in (0_u64..).step_by(127).zip(lengths) {
            let data = vec![0xab; usize::from(length) * 5];
            let (key, to) = ([7; 32], EvmAddress::from_bytes([0xcd; 20]));
            let fees = Fees { most: 3_000_000_000, tip: u128::from(nonce) };
            let unsigned = Unsigned { chain_id: 8453, nonce, fees, gas: 123_456, to, data: &data };
            let signer = Signer::new(&Zeroizing::new(key)).unwrap();
            let other = Key::from_bytes(key).unwrap();
            let expected = chain::Unsigned {
                chain_id: 8453,
                nonce,
                priority_fee: fees.tip,
                max_fee: fees.most,
                gas: 123_456,
                to,
                value: 0,
                data: data.clone(),
            };
            let signed = signer.sign(&unsigned);
            assert_eq!(signed.raw.to_vec(), expected.sign(&other));
            assert_eq!(signed.hash, keccak256(&signed.raw));
            assert_eq!(signer.address(), other.address());
        }
    }

    #[test]
    fn zero_is_no_key() {
        assert_eq!(Signer::new(&Zeroizing::new([0; 32])).err(), Some(NotAKey));
        assert_eq!(Signer::new(&Zeroizing::new([0xff; 32])).err(), Some(NotAKey));
    }
}
