//! What a payer signs: a Permit2 transfer, and an EIP-2612 permit.

use evm::eip2612::AllowancePermit;
use evm::permit2::{UptoTransfer, UptoWitness};
use evm::word;
use order::model::chain::{EvmAddress, Network};
use order::model::money::Usdc;

use super::PERMIT2;
use super::credential::Permit2Authorization;
use super::settler::SignatureKind;
use crate::eip712::{Word, recover, token_domain};

/// What the payer of this promise signed, if the promise is for USDC and for
/// the `upto` proxy.
pub fn authorization_digest(promise: &Permit2Authorization) -> Word {
    let transfer = UptoTransfer {
        token: promise.network.usdc().bytes(),
        amount: word::from_u64(promise.most.atomic()),
        nonce: promise.nonce,
        deadline: word::from_u64(promise.deadline),
        witness: UptoWitness {
            to: promise.pay_to.bytes(),
            facilitator: promise.facilitator.bytes(),
            valid_after: word::from_u64(promise.valid_after),
        },
    };
    transfer.digest(promise.network.chain_id())
}

/// What can confirm the signature of this promise.
pub fn signature_kind(promise: &Permit2Authorization) -> SignatureKind {
    if recover(authorization_digest(promise), promise.account_signature()) == Some(promise.payer) {
        SignatureKind::Key
    } else {
        SignatureKind::Contract
    }
}

/// What an owner of USDC signs to let Permit2 move that much of it.
pub(super) fn permit_digest(
    network: Network,
    owner: EvmAddress,
    amount: Usdc,
    nonce: Word,
    deadline: u64,
) -> Word {
    let permit = AllowancePermit {
        owner: owner.bytes(),
        spender: PERMIT2.bytes(),
        value: word::from_u64(amount.atomic()),
        nonce,
        deadline: word::from_u64(deadline),
    };
    permit.digest(token_domain(network))
}

#[cfg(test)]
mod tests;
