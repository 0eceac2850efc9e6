//! Typed data as EIP-712 hashes it, and the words that it is made of.

use order::model::chain::{EvmAddress, Network};
use order::model::money::Usdc;
use sha3::{Digest, Keccak256};

use super::hex::Word;

const VERSIONED_DOMAIN: &str =
    "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";

/// What signatures that Circle's USDC itself checks are bound to. Known to us and the
/// same on all three networks, so no server is asked for it.
pub(super) fn usdc_domain(network: Network) -> Word {
    let (name, version) = (keccak("USD Coin"), keccak("2"));
    let (chain, token) = (number(network.chain_id()), account(network.usdc()));
    hash(&[keccak(VERSIONED_DOMAIN), name, version, chain, token])
}

pub(super) fn keccak(bytes: impl AsRef<[u8]>) -> Word {
    Keccak256::digest(bytes).into()
}

pub(super) fn account(address: EvmAddress) -> Word {
    let mut word = [0; 32];
    word[12..].copy_from_slice(&address.bytes());
    word
}

pub(super) fn amount(usdc: Usdc) -> Word {
    number(usdc.atomic())
}

pub(super) fn number(number: u64) -> Word {
    let mut word = [0; 32];
    word[24..].copy_from_slice(&number.to_be_bytes());
    word
}

pub(super) fn hash(words: &[Word]) -> Word {
    keccak(words.concat())
}

pub(super) fn signable(domain: Word, content: Word) -> Word {
    keccak([b"\x19\x01".as_slice(), &domain, &content].concat())
}

#[cfg(test)]
mod tests {
    use super::super::hex;
    use super::*;

    #[test]
    fn the_domain_of_usdc_is_the_one_that_base_has() {
        let separator = "0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f";
        assert_eq!(hex::encode(&usdc_domain(Network::Base)), separator);
    }
}
