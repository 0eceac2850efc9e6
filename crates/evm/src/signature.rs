//! Signing with a private key, and recovery of the account that signed.

use std::fmt;
use std::sync::LazyLock;

use secp256k1::ecdsa::{RecoverableSignature, RecoveryId};
use secp256k1::{All, Message, PublicKey, Secp256k1, SecretKey};

use crate::checksum;
use crate::keccak::keccak256;
use crate::word::Word;

pub mod erc6492;

static CURVE: LazyLock<Secp256k1<All>> = LazyLock::new(Secp256k1::new);

/// Half of the curve's order. Every signature has a twin whose `s` is above it.
const LARGEST_LOW_S: Word = [
    0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0x5d, 0x57, 0x6e, 0x73, 0x57, 0xa4, 0x50, 0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0,
];

/// `r`, `s` and `v`, which is 27 or 28.
pub type Signature = [u8; 65];

/// A private key. It does not print itself, and overwrites its memory when dropped.
#[derive(Clone)]
pub struct SigningKey(SecretKey);

/// The 32 bytes are zero, or not below the curve's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidPrivateKey;

impl SigningKey {
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, InvalidPrivateKey> {
        SecretKey::from_byte_array(*bytes).map(Self).map_err(|_| InvalidPrivateKey)
    }

    /// The key itself.
    pub fn to_bytes(&self) -> [u8; 32] {
        self.0.secret_bytes()
    }

    pub fn address(&self) -> [u8; 20] {
        address_of(&PublicKey::from_secret_key(&CURVE, &self.0))
    }

    /// Always with a low `s`. The same digest always gives the same signature (RFC 6979).
    pub fn sign(&self, digest: Word) -> Signature {
        let signature = CURVE.sign_ecdsa_recoverable(Message::from_digest(digest), &self.0);
        let (parity, compact) = signature.serialize_compact();
        let mut bytes = [0; 65];
        bytes[..64].copy_from_slice(&compact);
        bytes[64] = if parity == RecoveryId::Zero { 27 } else { 28 };
        bytes
    }
}

impl Drop for SigningKey {
    fn drop(&mut self) {
        self.0.non_secure_erase();
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", checksum::encode(self.address()))
    }
}

/// The account that signed this digest, as the precompiled contract `ecrecover` answers.
/// None if `v` is neither 27 nor 28 or no key could have signed. A high `s` is accepted.
pub fn recover(digest: Word, signature: &Signature) -> Option<[u8; 20]> {
    let (compact, v) = signature.split_first_chunk::<64>()?;
    let parity = match v {
        [27] => RecoveryId::Zero,
        [28] => RecoveryId::One,
        _ => return None,
    };
    let signature = RecoverableSignature::from_compact(compact, parity).ok()?;
    let key = CURVE.recover_ecdsa(Message::from_digest(digest), &signature).ok()?;
    Some(address_of(&key))
}

/// A signature of 65 bytes as it is, or the 65 bytes of the 64 of EIP-2098. None for any
/// other length.
pub fn expand(signature: &[u8]) -> Option<Signature> {
    if let Ok(compact) = <[u8; 64]>::try_from(signature) {
        let mut whole = [0; 65];
        whole[..64].copy_from_slice(&compact);
        // The parity is in the bit that a low `s` leaves free.
        whole[64] = 27 + (whole[32] >> 7);
        whole[32] &= 0x7f;
        return Some(whole);
    }
    signature.try_into().ok()
}

/// Contracts that accept one signature for each digest refuse a high `s`.
pub fn has_low_s(signature: &Signature) -> bool {
    signature[32..64] <= LARGEST_LOW_S[..]
}

fn address_of(key: &PublicKey) -> [u8; 20] {
    let hash = keccak256(&[&key.serialize_uncompressed()[1..]]);
    let mut address = [0; 20];
    address.copy_from_slice(&hash[12..]);
    address
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex;

    /// The first account of the mnemonic of development chains.
    const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
    const ADDRESS: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
    const ORDER: &str = "0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";

    fn word(text: &str) -> Word {
        hex::decode(text).unwrap().try_into().unwrap()
    }

    fn key() -> SigningKey {
        SigningKey::from_bytes(&word(KEY)).unwrap()
    }

    /// The curve's order minus `s`.
    fn negated(s: &[u8]) -> Vec<u8> {
        let order = word(ORDER);
        let mut borrow = 0;
        let mut out = vec![0; 32];
        for place in (0..32).rev() {
            let gap = i16::from(order[place]) - i16::from(s[place]) - borrow;
            borrow = i16::from(gap < 0);
            out[place] = u8::try_from(gap.rem_euclid(256)).unwrap();
        }
        out
    }

    #[test]
    fn a_key_has_the_address_that_other_software_gives_it() {
        assert_eq!(checksum::encode(key().address()), ADDRESS);
        assert_eq!(hex::encode(&key().to_bytes()), KEY);
    }

    #[test]
    fn a_key_prints_its_address_and_never_itself() {
        assert_eq!(format!("{:?}", key()), format!("SigningKey({ADDRESS})"));
    }

    #[test]
    fn zero_and_the_order_of_the_curve_are_not_keys() {
        for bytes in [[0; 32], [0xff; 32], word(ORDER)] {
            assert_eq!(SigningKey::from_bytes(&bytes).err(), Some(InvalidPrivateKey));
        }
    }

    #[test]
    fn a_signature_leads_to_its_signer_from_its_own_digest_only() {
        let (digest, signer) = ([9; 32], Some(key().address()));
        let good = key().sign(digest);
        assert_eq!(recover(digest, &good), signer);
        assert_ne!(recover([8; 32], &good), signer);
        for v in (0..=255).filter(|v| *v != good[64]) {
            let mut other = good;
            other[64] = v;
            assert_ne!(recover(digest, &other), signer, "{v}");
        }
        assert_eq!(recover(digest, &[0; 65]), None);
    }

    #[test]
    fn the_short_form_leads_to_the_same_signer() {
        for first in 0..8 {
            let digest = [first; 32];
            let good = key().sign(digest);
            let mut short = good[..64].to_vec();
            short[32] |= (good[64] - 27) << 7;
            assert_eq!(expand(&short), Some(good));
            short[32] ^= 0x80;
            assert_ne!(recover(digest, &expand(&short).unwrap()), Some(key().address()));
        }
        let good = key().sign([9; 32]);
        assert_eq!(expand(&good), Some(good));
        for length in (0..64).chain(66..80) {
            let other: Vec<u8> = good.iter().copied().cycle().take(length).collect();
            assert_eq!(expand(&other), None, "{length}");
        }
        assert_eq!(recover([9; 32], &expand(&[255; 64]).unwrap()), None);
    }

    #[test]
    fn the_twin_of_a_signature_leads_to_the_same_signer_with_a_high_s() {
        let digest = [9; 32];
        let good = key().sign(digest);
        let mut twin = good;
        twin[32..64].copy_from_slice(&negated(&good[32..64]));
        twin[64] = 55 - good[64];
        assert_eq!(recover(digest, &twin), Some(key().address()));
        assert!(has_low_s(&good) && !has_low_s(&twin));
    }

    #[test]
    fn half_of_the_order_is_the_largest_low_s() {
        assert_eq!(negated(&LARGEST_LOW_S)[..31], LARGEST_LOW_S[..31]);
        assert_eq!(negated(&LARGEST_LOW_S)[31], LARGEST_LOW_S[31] + 1);
    }
}
