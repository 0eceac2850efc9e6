//! Structures hashed as EIP-712 says, and whose key signed a hash.
//!
//! Hashed by hand: all that anybody signs for us are a few structures of fixed words.

use std::sync::LazyLock;

use order::model::chain::{EvmAddress, Network};
use secp256k1::ecdsa::{RecoverableSignature, RecoveryId};
use secp256k1::{Message, Secp256k1, VerifyOnly};
use sha3::{Digest, Keccak256};

/// What USDC calls itself in its domain, the same on all our networks.
pub(crate) const TOKEN_NAME: &str = "USD Coin";
pub(crate) const TOKEN_VERSION: &str = "2";

const TOKEN_DOMAIN: &str =
    "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";

static CURVE: LazyLock<Secp256k1<VerifyOnly>> = LazyLock::new(Secp256k1::verification_only);

pub(crate) type Word = [u8; 32];

/// Whose key signed this digest; none if it is no key's signature.
///
/// As Permit2 reads it: `r`, `s` and `v` of 27 or 28, or the 64 bytes of
/// EIP-2098. A high `s` is taken as the chain takes it. That gives every
/// signature a twin, which does no harm: what may be spent once is named by
/// network, payer and nonce, never by the signature.
pub(crate) fn recover(digest: Word, signature: &[u8]) -> Option<EvmAddress> {
    let (compact, parity) = split(signature)?;
    let signature = RecoverableSignature::from_compact(&compact, parity).ok()?;
    let key = CURVE.recover_ecdsa(Message::from_digest(digest), &signature).ok()?;
    let hash = keccak(&[&key.serialize_uncompressed()[1..]]);
    hash.last_chunk().copied().map(EvmAddress::from_bytes)
}

fn split(signature: &[u8]) -> Option<([u8; 64], RecoveryId)> {
    let (compact, rest) = signature.split_first_chunk::<64>()?;
    match rest {
        [27] => Some((*compact, RecoveryId::Zero)),
        [28] => Some((*compact, RecoveryId::One)),
        [] => {
            // The parity is in the bit that a low `s` leaves free.
            let mut plain = *compact;
            plain[32] &= 0x7f;
            let parity = if plain == *compact { RecoveryId::Zero } else { RecoveryId::One };
            Some((plain, parity))
        }
        _ => None,
    }
}

/// The token's own domain.
pub(crate) fn token_domain(network: Network) -> Word {
    let (name, version) = (keccak(&[TOKEN_NAME.as_bytes()]), keccak(&[TOKEN_VERSION.as_bytes()]));
    let (chain, token) = (number(network.chain_id()), address(network.usdc()));
    structure(TOKEN_DOMAIN, &[name, version, chain, token])
}

/// What is signed for a structure in a domain.
pub(crate) fn signed(domain: Word, structure: Word) -> Word {
    keccak(&[&[0x19, 0x01], &domain, &structure])
}

pub(crate) fn structure(kind: &str, words: &[Word]) -> Word {
    keccak(&[&keccak(&[kind.as_bytes()]), words.as_flattened()])
}

pub(crate) fn address(address: EvmAddress) -> Word {
    let mut word = [0; 32];
    word[12..].copy_from_slice(&address.bytes());
    word
}

pub(crate) fn number(number: u64) -> Word {
    let mut word = [0; 32];
    word[24..].copy_from_slice(&number.to_be_bytes());
    word
}

pub(crate) fn keccak(parts: &[&[u8]]) -> Word {
    let mut hash = Keccak256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}
