//! Permit2: transfers on a signature, each with a nonce of its own.

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_sol_types::{SolCall, SolInterface, SolValue};
use evm::interfaces::{Permit2, Usdc};
use evm::permit2::{self, WitnessTransfer};
use evm::signature::expand;

use crate::chain::contracts::env::{CallEnv, ContractResult, Revert, emit};
use crate::chain::contracts::registry::at;
use crate::chain::contracts::wallet::{self, Confirmation};
use crate::chain::network::{ChainId, PERMIT2, address};
use crate::chain::node::state::{Slot, StateView};
use crate::keys::recover;
use Permit2::Permit2Calls as Calls;

pub(crate) fn domain(chain: ChainId) -> B256 {
    permit2::domain(chain.number()).into()
}

pub(crate) fn call(
    view: &mut StateView<'_>,
    env: &CallEnv<'_>,
    sender: Address,
    data: &[u8],
) -> ContractResult {
    match Calls::abi_decode_validate(data).map_err(|_| Revert::silent())? {
        Calls::DOMAIN_SEPARATOR(_) => Ok(domain(env.chain).abi_encode().into()),
        Calls::nonceBitmap(call) => {
            Ok(view.get(Slot::Bitmap(call.owner, call.wordPosition)).abi_encode().into())
        }
        Calls::invalidateUnorderedNonces(call) => {
            let slot = Slot::Bitmap(sender, call.wordPosition);
            let used = view.get(slot);
            view.set(slot, used | call.mask);
            let (word, mask) = (call.wordPosition, call.mask);
            let event = Permit2::UnorderedNonceInvalidation { owner: sender, word, mask };
            emit(view, address(PERMIT2), &event);
            Ok(Bytes::new())
        }
        Calls::permitWitnessTransferFrom(call) => permit_witness(view, env, sender, &call),
    }
}

/// The digest that the owner signs so that `spender` may call.
pub(crate) fn digest(
    chain: ChainId,
    spender: Address,
    call: &Permit2::permitWitnessTransferFromCall,
) -> B256 {
    let transfer = WitnessTransfer {
        token: call.permit.permitted.token.into(),
        amount: call.permit.permitted.amount.to_be_bytes(),
        spender: spender.into(),
        nonce: call.permit.nonce.to_be_bytes(),
        deadline: call.permit.deadline.to_be_bytes(),
        witness: call.witness.into(),
        witness_type_string: &call.witnessTypeString,
    };
    transfer.digest(chain.number()).into()
}

fn permit_witness(
    view: &mut StateView<'_>,
    env: &CallEnv<'_>,
    sender: Address,
    call: &Permit2::permitWitnessTransferFromCall,
) -> ContractResult {
    let permit = &call.permit;
    if U256::from(env.now) > permit.deadline {
        return Err(Revert::error(&Permit2::SignatureExpired {
            signatureDeadline: permit.deadline,
        }));
    }
    let requested = call.transferDetails.requestedAmount;
    if requested > permit.permitted.amount {
        return Err(Revert::error(&Permit2::InvalidAmount { maxAmount: permit.permitted.amount }));
    }
    use_nonce(view, call.owner, permit.nonce)?;
    view.spend(6_000);
    signed(view, env, call.owner, digest(env.chain, sender, call), &call.signature)?;
    let transfer =
        Usdc::transferFromCall { from: call.owner, to: call.transferDetails.to, value: requested };
    let moved = env.call(view, address(PERMIT2), permit.permitted.token, &transfer.abi_encode());
    // A token may return nothing or true; an address without code returns nothing.
    match moved {
        Ok(said) if said.is_empty() || U256::try_from_be_slice(&said) == Some(U256::ONE) => {
            Ok(Bytes::new())
        }
        Ok(_) | Err(_) => Err(Revert::reason("TRANSFER_FROM_FAILED")),
    }
}

/// The word and the bit of a nonce.
pub(crate) fn place(nonce: U256) -> (U256, U256) {
    let (word, bit) = permit2::bitmap_position(nonce.to_be_bytes());
    (U256::from_be_bytes(word), U256::ONE << usize::from(bit))
}

fn use_nonce(view: &mut StateView<'_>, owner: Address, nonce: U256) -> Result<(), Revert> {
    let (word, bit) = place(nonce);
    let slot = Slot::Bitmap(owner, word);
    let used = view.get(slot);
    if !(used & bit).is_zero() {
        return Err(Revert::error(&Permit2::InvalidNonce {}));
    }
    view.set(slot, used | bit);
    Ok(())
}

/// Permit2 also accepts EIP-2098 signatures and a high `s`.
fn signed(
    view: &mut StateView<'_>,
    env: &CallEnv<'_>,
    owner: Address,
    digest: B256,
    signature: &[u8],
) -> Result<(), Revert> {
    if at(view, env, owner).is_some() {
        // What the account's code reverts with is passed on.
        return match wallet::confirm(view, env, owner, digest, signature)? {
            Confirmation::Given => Ok(()),
            Confirmation::Denied => Err(Revert::error(&Permit2::InvalidContractSignature {})),
        };
    }
    let Some(signature) = expand(signature) else {
        return Err(Revert::error(&Permit2::InvalidSignatureLength {}));
    };
    match recover(digest, &signature) {
        None => Err(Revert::error(&Permit2::InvalidSignature {})),
        Some(signer) if signer == owner => Ok(()),
        Some(_) => Err(Revert::error(&Permit2::InvalidSigner {})),
    }
}
