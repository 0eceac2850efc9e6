//! What USDC does on a signature: EIP-2612 permits and EIP-3009 authorizations.

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_sol_types::SolStruct;

use super::super::abi::{
    CancelAuthorization, Permit, ReceiveWithAuthorization, TransferWithAuthorization, Usdc,
};
use super::super::state::{Slot, View};
use super::usdc::{approve, domain, may_move, transfer};
use super::{Answer, Env, Revert, at, emit, wallet};
use crate::keys::{has_low_s, recover};

/// The three parts in the order in which a packed signature has them.
pub(super) fn packed(v: u8, r: B256, s: B256) -> Bytes {
    [r.as_slice(), s.as_slice(), &[v]].concat().into()
}

/// Lets the second of the two spend from the first.
pub(super) fn permit(
    view: &mut View<'_>,
    env: &Env<'_>,
    (owner, spender): (Address, Address),
    value: U256,
    deadline: U256,
    signature: &[u8],
) -> Answer {
    may_move(view, &[owner, spender])?;
    if deadline < U256::from(env.now) {
        return Err(Revert::reason("FiatTokenV2: permit is expired"));
    }
    let nonce = view.get(Slot::PermitNonce(owner));
    view.set(Slot::PermitNonce(owner), nonce.saturating_add(U256::ONE));
    let promise = Permit { owner, spender, value, nonce, deadline };
    signed(view, env, owner, &promise, signature, "EIP2612: invalid signature")?;
    approve(view, env, owner, spender, value)?;
    Ok(Bytes::new())
}

pub(super) fn send(
    view: &mut View<'_>,
    env: &Env<'_>,
    terms: &TransferWithAuthorization,
    signature: &[u8],
) -> Answer {
    spend(view, env, terms, terms, signature)
}

pub(super) fn receive(
    view: &mut View<'_>,
    env: &Env<'_>,
    sender: Address,
    terms: &TransferWithAuthorization,
    signature: &[u8],
) -> Answer {
    may_move(view, &[terms.from, terms.to])?;
    if terms.to != sender {
        return Err(Revert::reason("FiatTokenV2: caller must be the payee"));
    }
    let promise = ReceiveWithAuthorization {
        from: terms.from,
        to: terms.to,
        value: terms.value,
        validAfter: terms.validAfter,
        validBefore: terms.validBefore,
        nonce: terms.nonce,
    };
    spend(view, env, terms, &promise, signature)
}

/// `terms` are what happens, `promise` is what was signed: the two differ only
/// in the name of their type.
fn spend(
    view: &mut View<'_>,
    env: &Env<'_>,
    terms: &TransferWithAuthorization,
    promise: &impl SolStruct,
    signature: &[u8],
) -> Answer {
    may_move(view, &[terms.from, terms.to])?;
    let now = U256::from(env.now);
    if now <= terms.validAfter {
        return Err(Revert::reason("FiatTokenV2: authorization is not yet valid"));
    }
    if now >= terms.validBefore {
        return Err(Revert::reason("FiatTokenV2: authorization is expired"));
    }
    unused(view, terms.from, terms.nonce)?;
    signed(view, env, terms.from, promise, signature, "FiatTokenV2: invalid signature")?;
    view.set(Slot::Authorization(terms.from, terms.nonce), U256::ONE);
    let used = Usdc::AuthorizationUsed { authorizer: terms.from, nonce: terms.nonce };
    emit(view, env.chain.usdc(), &used);
    transfer(view, env, terms.from, terms.to, terms.value)?;
    Ok(Bytes::new())
}

pub(super) fn cancel(
    view: &mut View<'_>,
    env: &Env<'_>,
    authorizer: Address,
    nonce: B256,
    signature: &[u8],
) -> Answer {
    may_move(view, &[])?;
    unused(view, authorizer, nonce)?;
    let promise = CancelAuthorization { authorizer, nonce };
    signed(view, env, authorizer, &promise, signature, "FiatTokenV2: invalid signature")?;
    view.set(Slot::Authorization(authorizer, nonce), U256::ONE);
    emit(view, env.chain.usdc(), &Usdc::AuthorizationCanceled { authorizer, nonce });
    Ok(Bytes::new())
}

fn unused(view: &mut View<'_>, authorizer: Address, nonce: B256) -> Result<(), Revert> {
    if view.get(Slot::Authorization(authorizer, nonce)).is_zero() {
        Ok(())
    } else {
        Err(Revert::reason("FiatTokenV2: authorization is used or canceled"))
    }
}

/// An account with code is asked by ERC-1271.
fn signed(
    view: &mut View<'_>,
    env: &Env<'_>,
    signer: Address,
    promise: &impl SolStruct,
    signature: &[u8],
    otherwise: &str,
) -> Result<(), Revert> {
    view.spend(6_000);
    let digest = promise.eip712_signing_hash(&domain(env.chain));
    if at(view, env, signer).is_some() {
        let no = |_| Revert::reason(otherwise);
        return wallet::confirm(view, env, signer, digest, signature).map_err(no);
    }
    let Ok(parts) = <[u8; 65]>::try_from(signature) else {
        return Err(Revert::reason("ECRecover: invalid signature length"));
    };
    let (r, s, v) = (B256::from_slice(&parts[..32]), B256::from_slice(&parts[32..64]), parts[64]);
    if !has_low_s(s) {
        return Err(Revert::reason("ECRecover: invalid signature 's' value"));
    }
    if v != 27 && v != 28 {
        return Err(Revert::reason("ECRecover: invalid signature 'v' value"));
    }
    match recover(digest, v, r, s) {
        None => Err(Revert::reason("ECRecover: invalid signature")),
        Some(found) if found == signer => Ok(()),
        Some(_) => Err(Revert::reason(otherwise)),
    }
}
