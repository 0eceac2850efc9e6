//! USDC: Circle's FiatToken 2.2 with balances, allowances and signed authorizations.

use alloy_primitives::{Address, U256};
use alloy_sol_types::{SolInterface, SolValue};
use evm::contracts::{USDC_NAME, USDC_VERSION};
use evm::eip712;
use evm::eip2612::PERMIT_TYPE;
use evm::eip3009::{CANCEL_TYPE, Eip3009Transfer, RECEIVE_TYPE, TRANSFER_TYPE};
use evm::interfaces::Usdc;

use crate::chain::contracts::env::{CallEnv, ContractResult, Revert};
use crate::chain::contracts::usdc_signed::{cancel, packed, permit, receive, send};
use crate::chain::contracts::usdc_token::{approve, domain, may_move, transfer};
use crate::chain::node::state::{Slot, StateView};
use Usdc::UsdcCalls as Calls;

/// The six terms of every call with an authorization.
macro_rules! terms {
    ($call:expr) => {
        Eip3009Transfer {
            from: $call.from.into(),
            to: $call.to.into(),
            value: $call.value.to_be_bytes(),
            valid_after: $call.validAfter.to_be_bytes(),
            valid_before: $call.validBefore.to_be_bytes(),
            nonce: $call.nonce.into(),
        }
    };
}

pub(crate) fn call(
    view: &mut StateView<'_>,
    env: &CallEnv<'_>,
    sender: Address,
    data: &[u8],
) -> ContractResult {
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
        Calls::name(_) => text(USDC_NAME),
        Calls::symbol(_) => text("USDC"),
        Calls::version(_) => text(USDC_VERSION),
        Calls::currency(_) => text("USD"),
        Calls::DOMAIN_SEPARATOR(_) => number(U256::from_be_bytes(domain(env.chain))),
        Calls::PERMIT_TYPEHASH(_) => type_hash(PERMIT_TYPE),
        Calls::TRANSFER_WITH_AUTHORIZATION_TYPEHASH(_) => type_hash(TRANSFER_TYPE),
        Calls::RECEIVE_WITH_AUTHORIZATION_TYPEHASH(_) => type_hash(RECEIVE_TYPE),
        Calls::CANCEL_AUTHORIZATION_TYPEHASH(_) => type_hash(CANCEL_TYPE),
    }
}

fn type_hash(type_string: &str) -> ContractResult {
    number(U256::from_be_bytes(eip712::type_hash(type_string)))
}

fn text(words: &str) -> ContractResult {
    Ok(words.abi_encode().into())
}

fn number(value: U256) -> ContractResult {
    Ok(value.abi_encode().into())
}

fn approve_called(
    view: &mut StateView<'_>,
    env: &CallEnv<'_>,
    sender: Address,
    call: &Usdc::approveCall,
) -> ContractResult {
    may_move(view, &[sender, call.spender])?;
    approve(view, env, sender, call.spender, call.value)?;
    Ok(true.abi_encode().into())
}

fn transfer_called(
    view: &mut StateView<'_>,
    env: &CallEnv<'_>,
    sender: Address,
    call: &Usdc::transferCall,
) -> ContractResult {
    may_move(view, &[sender, call.to])?;
    transfer(view, env, sender, call.to, call.value)?;
    Ok(true.abi_encode().into())
}

/// Unlike many tokens, USDC also reduces an unlimited allowance.
fn transfer_from(
    view: &mut StateView<'_>,
    env: &CallEnv<'_>,
    spender: Address,
    call: &Usdc::transferFromCall,
) -> ContractResult {
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
