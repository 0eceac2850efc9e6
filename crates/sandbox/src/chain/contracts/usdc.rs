//! USDC: Circle's FiatToken 2.2 as far as balances, allowances and promises go.

use alloy_primitives::{Address, U256, keccak256};
use alloy_sol_types::{Eip712Domain, SolInterface, SolStruct, SolValue, eip712_domain};

use super::super::abi::{
    CancelAuthorization, Permit, ReceiveWithAuthorization, TransferWithAuthorization, Usdc,
};
use super::super::network::ChainId;
use super::super::state::{Slot, View};
use super::usdc_signed::{cancel, packed, permit, receive, send};
use super::{Answer, Env, Revert, emit};
use Usdc::UsdcCalls as Calls;

pub(in super::super) const NAME: &str = "USD Coin";
pub(in super::super) const VERSION: &str = "2";

pub(in super::super) fn domain(chain: ChainId) -> Eip712Domain {
    eip712_domain! {
        name: NAME,
        version: VERSION,
        chain_id: chain.number(),
        verifying_contract: chain.usdc(),
    }
}

/// The six terms that every call with an authorization spells out.
macro_rules! terms {
    ($call:expr) => {
        TransferWithAuthorization {
            from: $call.from,
            to: $call.to,
            value: $call.value,
            validAfter: $call.validAfter,
            validBefore: $call.validBefore,
            nonce: $call.nonce,
        }
    };
}

pub(super) fn call(view: &mut View<'_>, env: &Env<'_>, sender: Address, data: &[u8]) -> Answer {
    match Calls::abi_decode_validate(data).map_err(|_| Revert::silent())? {
        Calls::approve(c) => approve_called(view, env, sender, &c),
        Calls::transfer(c) => transfer_called(view, env, sender, &c),
        Calls::transferFrom(c) => transfer_from(view, env, sender, &c),
        Calls::permit_0(c) => {
            let signature = packed(c.v, c.r, c.s);
            permit(view, env, (c.owner, c.spender), c.value, c.deadline, &signature)
        }
        Calls::permit_1(c) => {
            permit(view, env, (c.owner, c.spender), c.value, c.deadline, &c.signature)
        }
        Calls::transferWithAuthorization_0(c) => {
            send(view, env, &terms!(c), &packed(c.v, c.r, c.s))
        }
        Calls::transferWithAuthorization_1(c) => send(view, env, &terms!(c), &c.signature),
        Calls::receiveWithAuthorization_0(c) => {
            receive(view, env, sender, &terms!(c), &packed(c.v, c.r, c.s))
        }
        Calls::receiveWithAuthorization_1(c) => {
            receive(view, env, sender, &terms!(c), &c.signature)
        }
        Calls::cancelAuthorization_0(c) => {
            cancel(view, env, c.authorizer, c.nonce, &packed(c.v, c.r, c.s))
        }
        Calls::cancelAuthorization_1(c) => cancel(view, env, c.authorizer, c.nonce, &c.signature),
        Calls::balanceOf(c) => number(view.get(Slot::Usdc(c.account))),
        Calls::allowance(c) => {
            number(view.get(Slot::Allowance { owner: c.owner, spender: c.spender }))
        }
        Calls::nonces(c) => number(view.get(Slot::PermitNonce(c.owner))),
        Calls::authorizationState(c) => {
            number(view.get(Slot::Authorization(c.authorizer, c.nonce)))
        }
        Calls::totalSupply(_) => number(view.get(Slot::Supply)),
        Calls::paused(_) => number(view.get(Slot::Paused)),
        Calls::isBlacklisted(c) => number(view.get(Slot::Blacklisted(c.account))),
        Calls::decimals(_) => number(U256::from(6)),
        Calls::name(_) => text(NAME),
        Calls::symbol(_) => text("USDC"),
        Calls::version(_) => text(VERSION),
        Calls::currency(_) => text("USD"),
        Calls::DOMAIN_SEPARATOR(_) => number(domain(env.chain).separator().into()),
        Calls::PERMIT_TYPEHASH(_) => type_hash::<Permit>(),
        Calls::TRANSFER_WITH_AUTHORIZATION_TYPEHASH(_) => type_hash::<TransferWithAuthorization>(),
        Calls::RECEIVE_WITH_AUTHORIZATION_TYPEHASH(_) => type_hash::<ReceiveWithAuthorization>(),
        Calls::CANCEL_AUTHORIZATION_TYPEHASH(_) => type_hash::<CancelAuthorization>(),
    }
}

fn type_hash<T: SolStruct>() -> Answer {
    number(keccak256(T::eip712_encode_type().as_bytes()).into())
}

fn text(words: &str) -> Answer {
    Ok(words.abi_encode().into())
}

fn number(value: U256) -> Answer {
    Ok(value.abi_encode().into())
}

/// Circle can stop the whole token, or one holder; both come before anything else.
pub(super) fn may_move(view: &mut View<'_>, accounts: &[Address]) -> Result<(), Revert> {
    if !view.get(Slot::Paused).is_zero() {
        return Err(Revert::reason("Pausable: paused"));
    }
    for account in accounts {
        if !view.get(Slot::Blacklisted(*account)).is_zero() {
            return Err(Revert::reason("Blacklistable: account is blacklisted"));
        }
    }
    Ok(())
}

fn approve_called(
    view: &mut View<'_>,
    env: &Env<'_>,
    sender: Address,
    call: &Usdc::approveCall,
) -> Answer {
    may_move(view, &[sender, call.spender])?;
    approve(view, env, sender, call.spender, call.value)?;
    Ok(true.abi_encode().into())
}

fn transfer_called(
    view: &mut View<'_>,
    env: &Env<'_>,
    sender: Address,
    call: &Usdc::transferCall,
) -> Answer {
    may_move(view, &[sender, call.to])?;
    transfer(view, env, sender, call.to, call.value)?;
    Ok(true.abi_encode().into())
}

pub(super) fn approve(
    view: &mut View<'_>,
    env: &Env<'_>,
    owner: Address,
    spender: Address,
    value: U256,
) -> Result<(), Revert> {
    if owner.is_zero() {
        return Err(Revert::reason("ERC20: approve from the zero address"));
    }
    if spender.is_zero() {
        return Err(Revert::reason("ERC20: approve to the zero address"));
    }
    view.set(Slot::Allowance { owner, spender }, value);
    emit(view, env.chain.usdc(), &Usdc::Approval { owner, spender, value });
    Ok(())
}

/// Unlike many tokens, this one takes from an endless allowance too.
fn transfer_from(
    view: &mut View<'_>,
    env: &Env<'_>,
    spender: Address,
    call: &Usdc::transferFromCall,
) -> Answer {
    may_move(view, &[spender, call.from, call.to])?;
    let slot = Slot::Allowance { owner: call.from, spender };
    let allowed = view.get(slot);
    let Some(left) = allowed.checked_sub(call.value) else {
        return Err(Revert::reason("ERC20: transfer amount exceeds allowance"));
    };
    transfer(view, env, call.from, call.to, call.value)?;
    view.set(slot, left);
    Ok(true.abi_encode().into())
}

pub(super) fn transfer(
    view: &mut View<'_>,
    env: &Env<'_>,
    from: Address,
    to: Address,
    value: U256,
) -> Result<(), Revert> {
    if from.is_zero() {
        return Err(Revert::reason("ERC20: transfer from the zero address"));
    }
    if to.is_zero() {
        return Err(Revert::reason("ERC20: transfer to the zero address"));
    }
    let Some(left) = view.get(Slot::Usdc(from)).checked_sub(value) else {
        return Err(Revert::reason("ERC20: transfer amount exceeds balance"));
    };
    view.set(Slot::Usdc(from), left);
    let had = view.get(Slot::Usdc(to));
    view.set(Slot::Usdc(to), had.saturating_add(value));
    emit(view, env.chain.usdc(), &Usdc::Transfer { from, to, value });
    Ok(())
}
