//! What the token, Permit2 and the `upto` proxy are asked and say, as they are published.

use alloy_primitives::{Address, U256};
use alloy_sol_types::{SolCall, sol};

sol! {
    interface Token {
        event Transfer(address indexed from, address indexed to, uint256 value);
    }

    interface Permit2 {
        event UnorderedNonceInvalidation(address indexed owner, uint256 word, uint256 mask);

        function nonceBitmap(address owner, uint256 word) external view returns (uint256);
    }

    struct TokenPermissions { address token; uint256 amount; }
    struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }
    struct Witness { address to; address facilitator; uint256 validAfter; }
    struct EIP2612Permit { uint256 value; uint256 deadline; bytes32 r; bytes32 s; uint8 v; }

    interface UptoProxy {
        function settle(PermitTransferFrom permit, uint256 amount, address owner, Witness witness, bytes signature) external;
        function settleWithPermit(EIP2612Permit permit2612, PermitTransferFrom permit, uint256 amount, address owner, Witness witness, bytes signature) external;
    }
}

/// Whose promise a call to the proxy settles. Bytes behind the arguments are
/// nobody's business: some carriers sign their work there.
pub(super) fn owner_and_nonce(input: &[u8]) -> Option<(Address, U256)> {
    if let Ok(call) = UptoProxy::settleCall::abi_decode(input) {
        return Some((call.owner, call.permit.nonce));
    }
    let call = UptoProxy::settleWithPermitCall::abi_decode(input).ok()?;
    Some((call.owner, call.permit.nonce))
}

#[cfg(test)]
mod tests {
    use alloy_primitives::B256;
    use alloy_sol_types::SolEvent;

    use super::*;

    #[test]
    fn the_selectors_and_topics_are_those_on_the_chain() {
        assert_eq!(Permit2::nonceBitmapCall::SELECTOR, 0x4fe0_2b44_u32.to_be_bytes());
        assert_eq!(UptoProxy::settleCall::SELECTOR, 0xff11_e7b4_u32.to_be_bytes());
        let transfer: B256 =
            "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef".parse().unwrap();
        assert_eq!(Token::Transfer::SIGNATURE_HASH, transfer);
    }

    fn settle(nonce: u64) -> UptoProxy::settleCall {
        UptoProxy::settleCall {
            permit: PermitTransferFrom {
                permitted: TokenPermissions { token: Address::ZERO, amount: U256::from(5) },
                nonce: U256::from(nonce),
                deadline: U256::from(9),
            },
            amount: U256::from(4),
            owner: Address::repeat_byte(7),
            witness: Witness {
                to: Address::ZERO,
                facilitator: Address::ZERO,
                validAfter: U256::ZERO,
            },
            signature: vec![1; 65].into(),
        }
    }

    #[test]
    fn the_promise_is_read_from_both_calls_and_with_words_behind_them() {
        let expected = Some((Address::repeat_byte(7), U256::from(42)));
        let call = settle(42);
        assert_eq!(owner_and_nonce(&call.abi_encode()), expected);
        assert_eq!(owner_and_nonce(&[&call.abi_encode()[..], b"signed"].concat()), expected);
        let sponsored = UptoProxy::settleWithPermitCall {
            permit2612: EIP2612Permit {
                value: U256::from(5),
                deadline: U256::from(9),
                r: B256::ZERO,
                s: B256::ZERO,
                v: 27,
            },
            permit: call.permit,
            amount: call.amount,
            owner: call.owner,
            witness: call.witness,
            signature: call.signature,
        };
        assert_eq!(owner_and_nonce(&sponsored.abi_encode()), expected);
        assert_eq!(owner_and_nonce(&[0xff, 0x11, 0xe7, 0xb4, 0]), None);
        assert_eq!(owner_and_nonce(b""), None);
    }
}
