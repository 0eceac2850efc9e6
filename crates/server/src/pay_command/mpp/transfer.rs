//! What a payer signs: a transfer of USDC that anybody may carry to the chain, once (EIP-3009).

use order::model::chain::{EvmAddress, Network};
use order::model::money::Usdc;

use super::super::hex::Word;
use super::super::typed::{account, amount, hash, keccak, number, signable, usdc_domain};

const TRANSFER: &str = "TransferWithAuthorization(address from,address to,uint256 value,\
    uint256 validAfter,uint256 validBefore,bytes32 nonce)";

/// A transfer before it is signed. It holds from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transfer {
    pub(super) network: Network,
    pub(super) from: EvmAddress,
    pub(super) to: EvmAddress,
    pub(super) value: Usdc,
    /// No block of this second or a later one takes it.
    pub(super) valid_before: u64,
    pub(super) nonce: Word,
}

impl Transfer {
    pub(super) fn digest(&self) -> Word {
        let transfer = hash(&[
            keccak(TRANSFER),
            account(self.from),
            account(self.to),
            amount(self.value),
            number(0),
            number(self.valid_before),
            self.nonce,
        ]);
        signable(usdc_domain(self.network), transfer)
    }
}

/// The nonce that binds a transfer to its challenge, as the draft of the method has it.
/// The same challenge always gives the same one, so it cannot be paid twice.
pub(super) fn nonce(id: &str, realm: &str) -> Word {
    keccak([id.as_bytes(), realm.as_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use super::super::super::hex;
    use super::*;

    #[test]
    fn a_nonce_is_that_of_the_draft() {
        let packed = "0x5a0fc55509f7d12adb07939181237dfb784515af39195c1ddf0359418fd554d5";
        assert_eq!(hex::encode(&nonce("challenge", "example.com")), packed);
    }
}
