//! Structures hashed as EIP-712 specifies.
//!
//! Only what payments need: structures whose members are words, and two kinds of domain.

use crate::keccak::keccak256;
use crate::word::{self, Word};

const DOMAIN: &str = "EIP712Domain(string name,uint256 chainId,address verifyingContract)";
const VERSIONED_DOMAIN: &str =
    "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";

pub fn type_hash(type_string: &str) -> Word {
    keccak256(&[type_string.as_bytes()])
}

pub fn hash_struct(type_string: &str, members: &[Word]) -> Word {
    keccak256(&[&type_hash(type_string), members.as_flattened()])
}

/// What is signed for a structure in a domain.
pub fn signing_digest(domain: Word, structure: Word) -> Word {
    keccak256(&[&[0x19, 0x01], &domain, &structure])
}

/// The domain separator of a contract that publishes no version.
pub fn domain(name: &str, chain_id: u64, contract: [u8; 20]) -> Word {
    let members =
        [keccak256(&[name.as_bytes()]), word::from_u64(chain_id), word::from_address(contract)];
    hash_struct(DOMAIN, &members)
}

pub fn versioned_domain(name: &str, version: &str, chain_id: u64, contract: [u8; 20]) -> Word {
    let members = [
        keccak256(&[name.as_bytes()]),
        keccak256(&[version.as_bytes()]),
        word::from_u64(chain_id),
        word::from_address(contract),
    ];
    hash_struct(VERSIONED_DOMAIN, &members)
}
