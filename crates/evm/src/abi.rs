//! Calls to contracts whose arguments are words.

use crate::keccak::keccak256;
use crate::word::Word;

pub const ALLOWANCE: &str = "allowance(address,address)";
pub const APPROVE: &str = "approve(address,uint256)";
pub const NONCES: &str = "nonces(address)";

/// The input of a call, from the signature of the function and its arguments.
pub fn encode_call(function: &str, arguments: &[Word]) -> Vec<u8> {
    [&selector(function), arguments.as_flattened()].concat()
}

fn selector(function: &str) -> [u8; 4] {
    let [first, second, third, fourth, ..] = keccak256(&[function.as_bytes()]);
    [first, second, third, fourth]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contracts::PERMIT2;
    use crate::{hex, word};

    #[test]
    fn the_selectors_are_those_of_erc_20_and_eip_2612() {
        let selectors = [ALLOWANCE, APPROVE, NONCES].map(selector);
        assert_eq!(selectors.map(u32::from_be_bytes), [0xdd62_ed3e, 0x095e_a7b3, 0x7ece_be00]);
    }

    #[test]
    fn an_approval_of_permit2_has_the_published_form() {
        let call = encode_call(APPROVE, &[word::from_address(PERMIT2), word::from_u64(3_500_000)]);
        assert_eq!(
            hex::encode(&call),
            "0x095ea7b3\
             000000000000000000000000000000000022d473030f116ddee9f6b43ac78ba3\
             00000000000000000000000000000000000000000000000000000000003567e0"
        );
    }
}
