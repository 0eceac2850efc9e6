//! Permit2 signature transfers, and the witness of the x402 scheme `upto`.

use crate::contracts::{PERMIT2, UPTO_PROXY};
use crate::eip712::{self, hash_struct, signing_digest};
use crate::keccak::keccak256;
use crate::word::{self, Word};

/// Permit2 appends the type string of its caller's witness to this.
const TYPE_STUB: &str = "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,\
    uint256 nonce,uint256 deadline,";
const PERMISSIONS_TYPE: &str = "TokenPermissions(address token,uint256 amount)";
/// What a payer adds to a transfer under the scheme `upto`.
pub const WITNESS_TYPE: &str = "Witness(address to,address facilitator,uint256 validAfter)";
/// The rest of the type string, as the `upto` proxy passes it to Permit2.
pub const WITNESS_TYPE_STRING: &str = "Witness witness)\
    TokenPermissions(address token,uint256 amount)\
    Witness(address to,address facilitator,uint256 validAfter)";

/// A transfer with a witness of any type, before it is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WitnessTransfer<'a> {
    pub token: [u8; 20],
    /// The most that may be taken.
    pub amount: Word,
    /// The contract that may take it.
    pub spender: [u8; 20],
    pub nonce: Word,
    pub deadline: Word,
    /// The hash of the witness, and the end of the type string that describes it.
    pub witness: Word,
    pub witness_type_string: &'a str,
}

impl WitnessTransfer<'_> {
    /// What the owner signs.
    pub fn digest(&self, chain_id: u64) -> Word {
        let permitted =
            hash_struct(PERMISSIONS_TYPE, &[word::from_address(self.token), self.amount]);
        let type_hash = keccak256(&[TYPE_STUB.as_bytes(), self.witness_type_string.as_bytes()]);
        let members = [
            type_hash,
            permitted,
            word::from_address(self.spender),
            self.nonce,
            self.deadline,
            self.witness,
        ];
        signing_digest(domain(chain_id), keccak256(&[members.as_flattened()]))
    }
}

/// A transfer by the x402 proxy of the scheme `upto`, before it is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UptoTransfer {
    pub token: [u8; 20],
    pub amount: Word,
    pub nonce: Word,
    pub deadline: Word,
    pub witness: UptoWitness,
}

impl UptoTransfer {
    /// What the payer signs.
    pub fn digest(&self, chain_id: u64) -> Word {
        let transfer = WitnessTransfer {
            token: self.token,
            amount: self.amount,
            spender: UPTO_PROXY,
            nonce: self.nonce,
            deadline: self.deadline,
            witness: self.witness.hash(),
            witness_type_string: WITNESS_TYPE_STRING,
        };
        transfer.digest(chain_id)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UptoWitness {
    /// The account that is paid.
    pub to: [u8; 20],
    /// The account that may submit the transfer.
    pub facilitator: [u8; 20],
    pub valid_after: Word,
}

impl UptoWitness {
    pub fn hash(&self) -> Word {
        let members =
            [word::from_address(self.to), word::from_address(self.facilitator), self.valid_after];
        hash_struct(WITNESS_TYPE, &members)
    }
}

/// Permit2's own domain. Unlike the domain of USDC it has no version.
pub fn domain(chain_id: u64) -> Word {
    eip712::domain("Permit2", chain_id, PERMIT2)
}

/// Where Permit2 marks a nonce as used: the position of the word in the owner's bitmap,
/// and the bit in that word.
pub fn bitmap_position(nonce: Word) -> (Word, u8) {
    let mut position = [0; 32];
    position[1..].copy_from_slice(&nonce[..31]);
    (position, nonce[31])
}

#[cfg(test)]
mod tests;
