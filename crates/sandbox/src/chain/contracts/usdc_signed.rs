//! USDC calls with a signature: EIP-2612 permits and EIP-3009 authorizations.

use alloy_primitives::{Address, B256, Bytes, U256};
use evm::eip2612::AllowancePermit;
use evm::eip3009::{self, Eip3009Transfer};
use evm::interfaces::Usdc;
use evm::signature::{Signature, has_low_s};

use crate::chain::contracts::env::{CallEnv, ContractResult, Revert, emit};
use crate::chain::contracts::registry::at;
use crate::chain::contracts::usdc_token::{approve, domain, may_move, transfer};
use crate::chain::contracts::wallet::{self, Confirmation};
use crate::chain::node::state::{Slot, StateView};
use crate::keys::recover;

/// Packs the three parts of a signature.
pub(crate) fn packed(v: u8, r: B256, s: B256) -> Bytes {
    [r.as_slice(), s.as_slice(), &[v]].concat().into()
}

/// Sets the allowance of `spender` at `owner`.
pub(crate) fn permit(
    view: &mut StateView<'_>,
    env: &CallEnv<'_>,
    (owner, spender): (Address, Address),
    value: U256,
    deadline: U256,
    signature: &[u8],
) -> ContractResult {
    may_move(view, &[owner, spender])?;
    if deadline < U256::from(env.now) {
        return Err(Revert::reason("FiatTokenV2: permit is expired"));
    }
    let nonce = view.get(Slot::PermitNonce(owner));
    view.set(Slot::PermitNonce(owner), nonce.saturating_add(U256::ONE));
    let permit = AllowancePermit {
        owner: owner.into(),
        spender: spender.into(),
        value: value.to_be_bytes(),
        nonce: nonce.to_be_bytes(),
        deadline: deadline.to_be_bytes(),
    };
    let digest = permit.digest(domain(env.chain));
    signed(view, env, owner, digest.into(), signature, "EIP2612: invalid signature")?;
    approve(view, env, owner, spender, value)?;
    Ok(Bytes::new())
}

pub(crate) fn send(
    view: &mut StateView<'_>,
    env: &CallEnv<'_>,
    terms: &Eip3009Transfer,
    signature: &[u8],
) -> ContractResult {
    let digest = terms.transfer_digest(domain(env.chain));
    spend(view, env, terms, digest.into(), signature)
}

pub(crate) fn receive(
    view: &mut StateView<'_>,
    env: &CallEnv<'_>,
    sender: Address,
    terms: &Eip3009Transfer,
    signature: &[u8],
) -> ContractResult {
    may_move(view, &[terms.from.into(), terms.to.into()])?;
    if terms.to != sender {
        return Err(Revert::reason("FiatTokenV2: caller must be the payee"));
    }
    let digest = terms.receive_digest(domain(env.chain));
    spend(view, env, terms, digest.into(), signature)
}

/// `digest` was signed: the digest of `terms` under the type of a transfer or of a receive.
fn spend(
    view: &mut StateView<'_>,
    env: &CallEnv<'_>,
    terms: &Eip3009Transfer,
    digest: B256,
    signature: &[u8],
) -> ContractResult {
    let (from, to) = (Address::from(terms.from), Address::from(terms.to));
    let (now, nonce) = (U256::from(env.now), B256::from(terms.nonce));
    may_move(view, &[from, to])?;
    if now <= U256::from_be_bytes(terms.valid_after) {
        return Err(Revert::reason("FiatTokenV2: authorization is not yet valid"));
    }
    if now >= U256::from_be_bytes(terms.valid_before) {
        return Err(Revert::reason("FiatTokenV2: authorization is expired"));
    }
    unused(view, from, nonce)?;
    signed(view, env, from, digest, signature, "FiatTokenV2: invalid signature")?;
    view.set(Slot::Authorization(from, nonce), U256::ONE);
    emit(view, env.chain.usdc(), &Usdc::AuthorizationUsed { authorizer: from, nonce });
    transfer(view, env, from, to, U256::from_be_bytes(terms.value))?;
    Ok(Bytes::new())
}

pub(crate) fn cancel(
    view: &mut StateView<'_>,
    env: &CallEnv<'_>,
    authorizer: Address,
    nonce: B256,
    signature: &[u8],
) -> ContractResult {
    may_move(view, &[])?;
    unused(view, authorizer, nonce)?;
    let digest = eip3009::cancel_digest(domain(env.chain), authorizer.into(), nonce.into());
    signed(view, env, authorizer, digest.into(), signature, "FiatTokenV2: invalid signature")?;
    view.set(Slot::Authorization(authorizer, nonce), U256::ONE);
    emit(view, env.chain.usdc(), &Usdc::AuthorizationCanceled { authorizer, nonce });
    Ok(Bytes::new())
}

fn unused(view: &mut StateView<'_>, authorizer: Address, nonce: B256) -> Result<(), Revert> {
    if view.get(Slot::Authorization(authorizer, nonce)).is_zero() {
        Ok(())
    } else {
        Err(Revert::reason("FiatTokenV2: authorization is used or canceled"))
    }
}

/// Accounts with code are verified by ERC-1271.
fn signed(
    view: &mut StateView<'_>,
    env: &CallEnv<'_>,
    signer: Address,
    digest: B256,
    signature: &[u8],
    otherwise: &str,
) -> Result<(), Revert> {
    view.spend(6_000);
    if at(view, env, signer).is_some() {
        return match wallet::confirm(view, env, signer, digest, signature) {
            Ok(Confirmation::Given) => Ok(()),
            Ok(Confirmation::Denied) | Err(_) => Err(Revert::reason(otherwise)),
        };
    }
    let Ok(signature) = Signature::try_from(signature) else {
        return Err(Revert::reason("ECRecover: invalid signature length"));
    };
    if !has_low_s(&signature) {
        return Err(Revert::reason("ECRecover: invalid signature 's' value"));
    }
    if !matches!(signature[64], 27 | 28) {
        return Err(Revert::reason("ECRecover: invalid signature 'v' value"));
    }
    match recover(digest, &signature) {
        None => Err(Revert::reason("ECRecover: invalid signature")),
        Some(found) if found == signer => Ok(()),
        Some(_) => Err(Revert::reason(otherwise)),
    }
}
