//! The contracts of the sandbox: runs a call to any of them.

pub(crate) mod ens;
pub(crate) mod env;
mod multicall;
pub(crate) mod permit2;
pub(crate) mod registry;
pub(crate) mod upto;
pub(crate) mod usdc;
mod usdc_signed;
pub(crate) mod usdc_token;
pub(crate) mod wallet;

use alloy_primitives::{Address, Bytes};

use crate::chain::contracts::env::{CallEnv, ContractResult};
use crate::chain::contracts::registry::{EmulatedContract, at};
use crate::chain::node::state::StateView;

/// Calls the contract at this address. Without one, the call succeeds with an empty result,
/// as on any chain.
pub(crate) fn call(
    view: &mut StateView<'_>,
    env: &CallEnv<'_>,
    sender: Address,
    to: Address,
    data: &[u8],
) -> ContractResult {
    view.spend(2_600);
    view.attempt(|view| match at(view, env, to) {
        Some(EmulatedContract::Usdc) => usdc::call(view, env, sender, data),
        Some(EmulatedContract::Permit2) => permit2::call(view, env, sender, data),
        Some(EmulatedContract::UptoProxy) => upto::call(view, env, sender, data),
        Some(EmulatedContract::UniversalResolver) => ens::call(env, data),
        Some(EmulatedContract::Multicall3) => multicall::call(view, env, data),
        Some(EmulatedContract::Wallet(wallet)) => wallet::call(view, env, wallet, data),
        Some(EmulatedContract::Other) | None => Ok(Bytes::new()),
    })
}

#[cfg(test)]
mod tests;
