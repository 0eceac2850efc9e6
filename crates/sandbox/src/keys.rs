//! Keys that sign in the sandbox and cannot print themselves.

use std::fmt;
use std::io;

use alloy_primitives::{Address, B256};
use evm::hex;
use evm::keccak::keccak256;
use evm::signature::{Signature, SigningKey};
use order::model::chain::EvmAddress;

/// A private key of the sandbox. It is made at start and owns nothing on a real chain.
#[derive(Clone)]
pub struct Key(SigningKey);

impl Key {
    /// A key that no other process has.
    pub fn random() -> io::Result<Self> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed)
            .map_err(|error| io::Error::other(format!("no randomness for a key: {error}")))?;
        Ok(Self::derive(&seed, "random"))
    }

    /// The key that belongs to this label under this seed.
    pub fn derive(seed: &[u8; 32], label: &str) -> Self {
        let mut hash = keccak256(&[seed, b"/", label.as_bytes()]);
        loop {
            // One hash in 2^128 is no key; then the next one is.
            match SigningKey::from_bytes(&hash) {
                Ok(key) => return Self(key),
                Err(_) => hash = keccak256(&[&hash]),
            }
        }
    }

    pub fn from_bytes(bytes: [u8; 32]) -> Option<Self> {
        SigningKey::from_bytes(&bytes).ok().map(Self)
    }

    pub fn address(&self) -> EvmAddress {
        EvmAddress::from_bytes(self.0.address())
    }

    /// What signs a transaction.
    pub fn signing_key(&self) -> &SigningKey {
        &self.0
    }

    pub fn sign(&self, digest: [u8; 32]) -> Signature {
        self.0.sign(digest)
    }

    /// The key itself as `0x` and digits, for a demonstration payer whose key is
    /// worthless elsewhere. Nothing else has a reason to ask.
    pub fn reveal(&self) -> String {
        hex::encode(&self.0.to_bytes())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.address())
    }
}

/// The account that signed this digest, as the chain's own `ecrecover` answers.
pub(crate) fn recover(digest: B256, signature: &Signature) -> Option<Address> {
    evm::signature::recover(digest.0, signature).map(Address::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first account of the mnemonic that every development chain uses.
    const KNOWN: (&str, &str) = (
        "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
        "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
    );

    fn known() -> Key {
        Key::from_bytes(KNOWN.0.parse::<B256>().unwrap().0).unwrap()
    }

    #[test]
    fn a_key_has_the_address_that_the_rest_of_the_world_gives_it() {
        assert_eq!(known().address().to_string(), KNOWN.1);
        assert_eq!(known().reveal(), format!("0x{}", KNOWN.0));
    }

    #[test]
    fn a_key_prints_its_address_and_never_itself() {
        let printed = format!("{:?}", known());
        assert!(printed.contains(KNOWN.1) && !printed.contains(&KNOWN.0[..8]));
    }

    #[test]
    fn labels_and_seeds_tell_keys_apart_and_nothing_else_does() {
        let one = Key::derive(&[1; 32], "settler").address();
        assert_eq!(Key::derive(&[1; 32], "settler").address(), one);
        assert_ne!(Key::derive(&[2; 32], "settler").address(), one);
        assert_ne!(Key::derive(&[1; 32], "payer").address(), one);
        assert_ne!(Key::random().unwrap().address(), Key::random().unwrap().address());
    }
}
