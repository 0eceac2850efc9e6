//! Keys that sign in the sandbox and cannot print themselves.

use std::fmt;
use std::io;
use std::sync::LazyLock;

use alloy_primitives::{Address, B256, keccak256};
use order::model::chain::EvmAddress;
use secp256k1::ecdsa::{RecoverableSignature, RecoveryId};
use secp256k1::{All, Message, PublicKey, Secp256k1, SecretKey};

static CURVE: LazyLock<Secp256k1<All>> = LazyLock::new(Secp256k1::new);

/// Half of the curve's order: an `s` above it is the twin of a lower one, and
/// contracts that want one signature for one promise refuse it.
const HALF_ORDER: [u8; 32] = [
    0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0x5d, 0x57, 0x6e, 0x73, 0x57, 0xa4, 0x50, 0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0,
];

/// A private key of the sandbox. It is made at start and holds nothing anywhere
/// else, but it does not print itself all the same: the habit is what protects.
#[derive(Clone)]
pub struct Key(SecretKey);

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
        let mut hash = keccak256([seed.as_slice(), b"/", label.as_bytes()].concat());
        loop {
            // One hash in 2^128 is no key; then the next one is.
            match SecretKey::from_byte_array(hash.0) {
                Ok(secret) => return Self(secret),
                Err(_) => hash = keccak256(hash),
            }
        }
    }

    pub fn from_bytes(bytes: [u8; 32]) -> Option<Self> {
        SecretKey::from_byte_array(bytes).ok().map(Self)
    }

    pub fn address(&self) -> EvmAddress {
        EvmAddress::from_bytes(address_of(&PublicKey::from_secret_key(&CURVE, &self.0)).into())
    }

    /// `r`, `s` and `v` (27 or 28) over a digest, with a low `s`.
    pub fn sign(&self, digest: [u8; 32]) -> [u8; 65] {
        let signature = CURVE.sign_ecdsa_recoverable(Message::from_digest(digest), &self.0);
        let (parity, compact) = signature.serialize_compact();
        let mut bytes = [0; 65];
        bytes[..64].copy_from_slice(&compact);
        bytes[64] = if parity == RecoveryId::Zero { 27 } else { 28 };
        bytes
    }

    /// The key itself as `0x` and digits, for a demonstration payer whose key is
    /// worthless elsewhere. Nothing else has a reason to ask.
    pub fn reveal(&self) -> String {
        B256::from(self.0.secret_bytes()).to_string()
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.address())
    }
}

/// Who signed this digest, as the chain's own `ecrecover` answers: nobody, if
/// `v` is neither 27 nor 28 or there is no such point.
pub(crate) fn recover(digest: B256, v: u8, r: B256, s: B256) -> Option<Address> {
    let parity = match v {
        27 => RecoveryId::Zero,
        28 => RecoveryId::One,
        _ => return None,
    };
    let compact = [r.0, s.0].concat();
    let compact: [u8; 64] = compact.try_into().ok()?;
    let signature = RecoverableSignature::from_compact(&compact, parity).ok()?;
    let public = CURVE.recover_ecdsa(Message::from_digest(digest.0), &signature).ok()?;
    Some(address_of(&public))
}

pub(crate) fn has_low_s(s: B256) -> bool {
    s.0 <= HALF_ORDER
}

fn address_of(public: &PublicKey) -> Address {
    Address::from_raw_public_key(&public.serialize_uncompressed()[1..])
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
    fn a_signature_leads_back_to_its_signer_and_only_from_its_own_digest() {
        let (key, digest) = (known(), keccak256(b"a postcard"));
        let signature = key.sign(digest.0);
        let (r, s) = (B256::from_slice(&signature[..32]), B256::from_slice(&signature[32..64]));
        let signer = Some(Address::from(key.address().bytes()));
        assert_eq!(recover(digest, signature[64], r, s), signer);
        assert_ne!(recover(keccak256(b"another"), signature[64], r, s), signer);
        assert_ne!(recover(digest, 55 - signature[64], r, s), signer);
        assert_eq!(recover(digest, signature[64] - 27, r, s), None);
        assert!(has_low_s(s));
        assert!(!has_low_s(B256::repeat_byte(0x80)));
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
