//! EIP-3009: transfers of a token that its holder signs and any account may submit, once.

use crate::eip712::{hash_struct, signing_digest};
use crate::word::{self, Word};

pub const TRANSFER_TYPE: &str = "TransferWithAuthorization(address from,address to,uint256 value,\
    uint256 validAfter,uint256 validBefore,bytes32 nonce)";
/// As a transfer, but only the payee may submit it.
pub const RECEIVE_TYPE: &str = "ReceiveWithAuthorization(address from,address to,uint256 value,\
    uint256 validAfter,uint256 validBefore,bytes32 nonce)";
pub const CANCEL_TYPE: &str = "CancelAuthorization(address authorizer,bytes32 nonce)";

/// A transfer before it is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eip3009Transfer {
    pub from: [u8; 20],
    pub to: [u8; 20],
    pub value: Word,
    /// A block is valid after this second and before the other, both exclusive.
    pub valid_after: Word,
    pub valid_before: Word,
    pub nonce: Word,
}

impl Eip3009Transfer {
    /// What the holder signs for `transferWithAuthorization`; `domain` is the token's.
    pub fn transfer_digest(&self, domain: Word) -> Word {
        self.digest(TRANSFER_TYPE, domain)
    }

    /// What the holder signs for `receiveWithAuthorization`.
    pub fn receive_digest(&self, domain: Word) -> Word {
        self.digest(RECEIVE_TYPE, domain)
    }

    fn digest(&self, type_string: &str, domain: Word) -> Word {
        let members = [
            word::from_address(self.from),
            word::from_address(self.to),
            self.value,
            self.valid_after,
            self.valid_before,
            self.nonce,
        ];
        signing_digest(domain, hash_struct(type_string, &members))
    }
}

/// What the holder signs to cancel a nonce.
pub fn cancel_digest(domain: Word, authorizer: [u8; 20], nonce: Word) -> Word {
    signing_digest(domain, hash_struct(CANCEL_TYPE, &[word::from_address(authorizer), nonce]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eip712::type_hash;
    use crate::hex;

    /// As the token publishes them.
    #[test]
    fn the_type_hashes_are_those_of_usdc() {
        let hashes = [TRANSFER_TYPE, RECEIVE_TYPE, CANCEL_TYPE];
        assert_eq!(
            hashes.map(|kind| hex::encode(&type_hash(kind))),
            [
                "0x7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267",
                "0xd099cc98ef71107a616c4f0f941f04c322d8e254fe26b3c6668db87aae413de8",
                "0x158b0a9edf7a828aad02f63cd515c68ef2f50ba807396f6d12842833a1597429",
            ]
        );
    }
}
