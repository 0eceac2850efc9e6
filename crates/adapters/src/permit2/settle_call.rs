//! The owner and the nonce in a call to the `upto` proxy.

use alloy_primitives::{Address, U256};
use alloy_sol_types::SolCall;
use evm::interfaces::UptoProxy;

/// The owner and the nonce of the authorization that a call to the proxy settles. Bytes
/// behind the arguments are ignored: some facilitators append a mark of their own.
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
    use evm::interfaces::{EIP2612Permit, PermitTransferFrom, TokenPermissions, Witness};

    use super::*;

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
    fn owner_and_nonce_are_read_from_both_calls_and_before_appended_bytes() {
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
