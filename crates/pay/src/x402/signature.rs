//! What a payer signs, hashed as EIP-712 says, and whose key signed it.
//!
//! Hashed by hand: three structures of fixed words, and the vectors of the
//! official client beside them.

use std::sync::LazyLock;

use order::chain::{EvmAddress, Network};
use order::money::Usdc;
use secp256k1::ecdsa::{RecoverableSignature, RecoveryId};
use secp256k1::{Message, Secp256k1, VerifyOnly};
use sha3::{Digest, Keccak256};

use super::credential::Promise;
use super::{PERMIT2, TOKEN_NAME, TOKEN_VERSION, UPTO_PROXY};

const PROMISE: &str = "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,\
                       uint256 nonce,uint256 deadline,Witness witness)\
                       TokenPermissions(address token,uint256 amount)\
                       Witness(address to,address facilitator,uint256 validAfter)";
const PERMITTED: &str = "TokenPermissions(address token,uint256 amount)";
const WITNESS: &str = "Witness(address to,address facilitator,uint256 validAfter)";
const PERMIT: &str =
    "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)";
/// Permit2's domain has no version, the token's has one.
const PERMIT2_DOMAIN: &str = "EIP712Domain(string name,uint256 chainId,address verifyingContract)";
const TOKEN_DOMAIN: &str =
    "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";

/// The most bytes that a key's signature has. What is longer comes from a
/// contract, or from nobody.
pub const KEY_SIGNATURE_BYTES_MAX: usize = 65;

static CURVE: LazyLock<Secp256k1<VerifyOnly>> = LazyLock::new(Secp256k1::verification_only);

type Word = [u8; 32];

/// What the payer of this promise signed, if the promise is for USDC and for
/// the `upto` proxy.
pub fn promise_digest(promise: &Promise) -> Word {
    let network = promise.network;
    let permitted = structure(PERMITTED, &[address(network.usdc()), number(promise.most.atomic())]);
    let witness = structure(
        WITNESS,
        &[address(promise.pay_to), address(promise.facilitator), number(promise.valid_after)],
    );
    let promised = structure(
        PROMISE,
        &[permitted, address(UPTO_PROXY), promise.nonce, number(promise.deadline), witness],
    );
    signed(permit2_domain(network), promised)
}

/// What an owner of USDC signs to let Permit2 move that much of it.
pub(super) fn permit_digest(
    network: Network,
    owner: EvmAddress,
    amount: Usdc,
    nonce: Word,
    deadline: u64,
) -> Word {
    let words =
        [address(owner), address(PERMIT2), number(amount.atomic()), nonce, number(deadline)];
    signed(token_domain(network), structure(PERMIT, &words))
}

fn permit2_domain(network: Network) -> Word {
    let name = keccak(&[b"Permit2"]);
    structure(PERMIT2_DOMAIN, &[name, number(network.chain_id()), address(PERMIT2)])
}

fn token_domain(network: Network) -> Word {
    let (name, version) = (keccak(&[TOKEN_NAME.as_bytes()]), keccak(&[TOKEN_VERSION.as_bytes()]));
    let (chain, token) = (number(network.chain_id()), address(network.usdc()));
    structure(TOKEN_DOMAIN, &[name, version, chain, token])
}

/// Whose key signed this digest; none if it is no key's signature.
///
/// As Permit2 reads it: `r`, `s` and `v` of 27 or 28, or the 64 bytes of
/// EIP-2098. A high `s` is taken as the chain takes it. That gives every
/// signature a twin, which does no harm: what may be spent once is named by
/// network, payer and nonce, never by the signature.
pub fn recover(digest: Word, signature: &[u8]) -> Option<EvmAddress> {
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

fn signed(domain: Word, structure: Word) -> Word {
    keccak(&[&[0x19, 0x01], &domain, &structure])
}

fn structure(kind: &str, words: &[Word]) -> Word {
    keccak(&[&keccak(&[kind.as_bytes()]), words.as_flattened()])
}

fn address(address: EvmAddress) -> Word {
    let mut word = [0; 32];
    word[12..].copy_from_slice(&address.bytes());
    word
}

fn number(number: u64) -> Word {
    let mut word = [0; 32];
    word[24..].copy_from_slice(&number.to_be_bytes());
    word
}

fn keccak(parts: &[&[u8]]) -> Word {
    let mut hash = Keccak256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests;
