//! The initial balances of the accounts.

use order::model::chain::EvmAddress;

use crate::chain::handle::ChainHandle;
use crate::chain::network::PERMIT2;
use crate::faucet::Faucet;

/// A payer's initial balance: 1,000 USDC, and ample gas.
pub(crate) const USDC: u128 = 1_000_000_000;
pub(crate) const NATIVE: u128 = 10_000_000_000_000_000_000;

/// Fills the accounts of the faucet on one chain.
pub(crate) fn fund(faucet: &Faucet, chain: &ChainHandle) {
    chain.set_native(faucet.settler().address(), NATIVE);
    fill_account(chain, faucet.payer().address());
    chain.set_allowance(faucet.payer().address(), PERMIT2, u128::MAX);
    chain.set_usdc(faucet.newcomer().address(), USDC);
}

/// Gives an account 1,000 USDC and gas.
pub(crate) fn fill_account(chain: &ChainHandle, account: EvmAddress) {
    chain.set_usdc(account, USDC);
    chain.set_native(account, NATIVE);
}

#[cfg(test)]
mod tests;
