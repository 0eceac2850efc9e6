//! EIP-2612: an allowance that a holder grants by signature instead of by transaction.

use crate::eip712::{hash_struct, signing_digest};
use crate::word::{self, Word};

pub const PERMIT_TYPE: &str =
    "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)";

/// An allowance before it is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllowancePermit {
    pub owner: [u8; 20],
    pub spender: [u8; 20],
    pub value: Word,
    /// The token counts the permits of each owner.
    pub nonce: Word,
    pub deadline: Word,
}

impl AllowancePermit {
    /// What the owner signs; `domain` is the token's.
    pub fn digest(&self, domain: Word) -> Word {
        let members = [
            word::from_address(self.owner),
            word::from_address(self.spender),
            self.value,
            self.nonce,
            self.deadline,
        ];
        signing_digest(domain, hash_struct(PERMIT_TYPE, &members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contracts::{PERMIT2, USDC_ARBITRUM, USDC_BASE, USDC_POLYGON, usdc_domain};
    use crate::eip712::type_hash;
    use crate::signature::{expand, recover};
    use crate::{checksum, hex};

    /// Signed with viem 2 by the key of the x402 vectors: owner, Permit2, 3 500 000,
    /// nonce 7, deadline 2100-01-01.
    const SIGNED: [(u64, [u8; 20], &str); 3] = [
        (
            8453,
            USDC_BASE,
            "0xabf28cb3a6aca9e01a5c0d9712a1cafc7548c99901e4d3bdd31d814b2e80c80e\
             57367361638d8453a28812ecfbc8a9f96eccb1bc86b1e89d5776439d827a84bd1b",
        ),
        (
            137,
            USDC_POLYGON,
            "0xbb14d8054a3a4989632cc58b83f87d479e39a4a8e3b50354462a341ef105e2d5\
             6d60ef50abe24251020ad4089054065c98cd3851b3a8b7ab2a52f9ea790971b21b",
        ),
        (
            42161,
            USDC_ARBITRUM,
            "0x7c470dcb495fc9a3b53d3f6446426be2d5eda5717fdf8aab0ba835e9f639afcd\
             0ae1ce4913d3e2b1f1e207947bbc9c520d1c707d53840ced15baee1b9f7e9d441c",
        ),
    ];

    #[test]
    fn a_permit_that_viem_signed_leads_to_its_owner() {
        let owner = checksum::decode("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC").unwrap();
        let permit = AllowancePermit {
            owner,
            spender: PERMIT2,
            value: word::from_u64(3_500_000),
            nonce: word::from_u64(7),
            deadline: word::from_u64(4_102_444_800),
        };
        for (chain_id, usdc, signature) in SIGNED {
            let digest = permit.digest(usdc_domain(chain_id, usdc));
            let signature = expand(&hex::decode(signature).unwrap()).unwrap();
            assert_eq!(recover(digest, &signature), Some(owner), "{chain_id}");
        }
    }

    /// As the token publishes it.
    #[test]
    fn the_type_hash_is_that_of_usdc() {
        let published = "0x6e71edae12b1b97f4d1f60370fef10105fa2faae0126114a169c64845d6126c9";
        assert_eq!(hex::encode(&type_hash(PERMIT_TYPE)), published);
    }
}
