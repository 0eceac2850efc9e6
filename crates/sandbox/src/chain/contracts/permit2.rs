//! Permit2: transfers on a signature, each with a nonce of its own.

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use alloy_sol_types::{Eip712Domain, SolCall, SolInterface, SolStruct, SolValue, eip712_domain};

use super::super::abi::{Permit2, TokenPermissions, Usdc};
use super::super::network::{ChainId, PERMIT2, address};
use super::super::state::{Slot, View};
use super::{Answer, Env, Revert, at, emit, wallet};
use crate::keys::recover;
use Permit2::Permit2Calls as Calls;

/// What the caller's own type string is appended to.
const TYPE_STUB: &str = "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,";

pub(in super::super) fn domain(chain: ChainId) -> Eip712Domain {
    eip712_domain! {
        name: "Permit2",
        chain_id: chain.number(),
        verifying_contract: address(PERMIT2),
    }
}

pub(super) fn call(view: &mut View<'_>, env: &Env<'_>, sender: Address, data: &[u8]) -> Answer {
    match Calls::abi_decode_validate(data).map_err(|_| Revert::silent())? {
        Calls::DOMAIN_SEPARATOR(_) => Ok(domain(env.chain).separator().abi_encode().into()),
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
pub(in super::super) fn digest(
    chain: ChainId,
    spender: Address,
    call: &Permit2::permitWitnessTransferFromCall,
) -> B256 {
    let type_hash = keccak256([TYPE_STUB, &call.witnessTypeString].concat());
    let permitted = TokenPermissions {
        token: call.permit.permitted.token,
        amount: call.permit.permitted.amount,
    };
    let message = (
        type_hash,
        permitted.eip712_hash_struct(),
        spender,
        call.permit.nonce,
        call.permit.deadline,
        call.witness,
    );
    let message = keccak256(message.abi_encode());
    let separator = domain(chain).separator();
    keccak256([b"\x19\x01".as_slice(), separator.as_slice(), message.as_slice()].concat())
}

fn permit_witness(
    view: &mut View<'_>,
    env: &Env<'_>,
    sender: Address,
    call: &Permit2::permitWitnessTransferFromCall,
) -> Answer {
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
    let moved =
        super::call(view, env, address(PERMIT2), permit.permitted.token, &transfer.abi_encode());
    // A token may say nothing, or yes; an address without code says nothing too.
    match moved {
        Ok(said) if said.is_empty() || U256::try_from_be_slice(&said) == Some(U256::ONE) => {
            Ok(Bytes::new())
        }
        Ok(_) | Err(_) => Err(Revert::reason("TRANSFER_FROM_FAILED")),
    }
}

/// Where the bit of a nonce is: the word, and the bit in it.
pub(in super::super) fn place(nonce: U256) -> (U256, U256) {
    let bit = usize::from(nonce.to_le_bytes::<32>()[0]);
    (nonce >> 8, U256::ONE << bit)
}

fn use_nonce(view: &mut View<'_>, owner: Address, nonce: U256) -> Result<(), Revert> {
    let (word, bit) = place(nonce);
    let slot = Slot::Bitmap(owner, word);
    let used = view.get(slot);
    if !(used & bit).is_zero() {
        return Err(Revert::error(&Permit2::InvalidNonce {}));
    }
    view.set(slot, used | bit);
    Ok(())
}

/// Permit2 takes the short form of EIP-2098, and a high `s`, too.
fn signed(
    view: &mut View<'_>,
    env: &Env<'_>,
    owner: Address,
    digest: B256,
    signature: &[u8],
) -> Result<(), Revert> {
    if at(view, env, owner).is_some() {
        let no = |_| Revert::error(&Permit2::InvalidContractSignature {});
        return wallet::confirm(view, env, owner, digest, signature).map_err(no);
    }
    let (r, s, v) = match signature.len() {
        65 => (&signature[..32], B256::from_slice(&signature[32..64]), signature[64]),
        64 => {
            let mut s = B256::from_slice(&signature[32..]);
            let v = 27 + (s.0[0] >> 7);
            s.0[0] &= 0x7f;
            (&signature[..32], s, v)
        }
        _ => return Err(Revert::error(&Permit2::InvalidSignatureLength {})),
    };
    match recover(digest, v, B256::from_slice(r), s) {
        None => Err(Revert::error(&Permit2::InvalidSignature {})),
        Some(signer) if signer == owner => Ok(()),
        Some(_) => Err(Revert::error(&Permit2::InvalidSigner {})),
    }
}
