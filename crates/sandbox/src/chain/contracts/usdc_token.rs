//! The checks and effects that all USDC calls share.

use alloy_primitives::{Address, U256};
use evm::contracts::usdc_domain;
use evm::interfaces::Usdc;

use crate::chain::contracts::env::{CallEnv, Revert, emit};
use crate::chain::network::ChainId;
use crate::chain::node::state::{Slot, StateView};

pub(crate) fn domain(chain: ChainId) -> [u8; 32] {
    usdc_domain(chain.number(), chain.usdc().into())
}

/// A paused token or a blacklisted account is refused before any other check.
pub(crate) fn may_move(view: &mut StateView<'_>, accounts: &[Address]) -> Result<(), Revert> {
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

pub(crate) fn approve(
    view: &mut StateView<'_>,
    env: &CallEnv<'_>,
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

pub(crate) fn transfer(
    view: &mut StateView<'_>,
    env: &CallEnv<'_>,
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
