//! What a payer signs: three structures of fixed words, and the vectors of the official
//! client beside them.

use order::model::chain::{EvmAddress, Network};
use order::model::money::Usdc;

use super::credential::Promise;
use super::{PERMIT2, UPTO_PROXY};
use crate::eip712::{Word, address, keccak, number, signed, structure, token_domain};

const PROMISE: &str = "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,\
                       uint256 nonce,uint256 deadline,Witness witness)\
                       TokenPermissions(address token,uint256 amount)\
                       Witness(address to,address facilitator,uint256 validAfter)";
const PERMITTED: &str = "TokenPermissions(address token,uint256 amount)";
const WITNESS: &str = "Witness(address to,address facilitator,uint256 validAfter)";
const PERMIT: &str =
    "Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)";
/// Unlike the token's domain, Permit2's has no version.
const PERMIT2_DOMAIN: &str = "EIP712Domain(string name,uint256 chainId,address verifyingContract)";

/// The most bytes that a key's signature has. What is longer comes from a
/// contract, or from nobody.
pub const KEY_SIGNATURE_BYTES_MAX: usize = 65;

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

#[cfg(test)]
mod tests;
