//! A contract wallet that verifies its owner's signatures (ERC-1271).

use alloy_primitives::{Address, B256, Bytes, FixedBytes, U256};
use alloy_sol_types::SolCall;
use evm::interfaces::Wallet::isValidSignatureCall as Confirm;

use crate::chain::contracts::env::{CallEnv, CallExecution, ContractResult, Revert};
use crate::chain::node::state::StateView;
use crate::keys::recover;

/// The answer to an invalid signature; a valid one is answered with the selector.
const NO: FixedBytes<4> = FixedBytes([0xff; 4]);

/// How a contract wallet answers `isValidSignature`. A contract can detect where it runs, so
/// it may pass a simulation and revert in the block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WalletKind {
    /// Confirms what its owner signed.
    #[default]
    Standard,
    /// Confirms in `eth_call` and `eth_estimateGas`, whatever the fees, and reverts in
    /// a block.
    RevertsInBlock,
    /// Confirms while the gas price is zero, as in a simulation that names no fees, and
    /// reverts at any other.
    RevertsAtGasPrice,
}

impl WalletKind {
    /// Every kind, with its name in the control interface.
    pub(crate) const NAMED: [(&'static str, Self); 3] = [
        ("standard", Self::Standard),
        ("reverts_in_block", Self::RevertsInBlock),
        ("reverts_at_gas_price", Self::RevertsAtGasPrice),
    ];

    pub(crate) fn number(self) -> U256 {
        match self {
            Self::Standard => U256::ZERO,
            Self::RevertsInBlock => U256::ONE,
            Self::RevertsAtGasPrice => U256::from(2),
        }
    }

    pub(crate) fn from_number(number: U256) -> Self {
        let mut kinds = Self::NAMED.into_iter().map(|(_, kind)| kind);
        kinds.find(|kind| kind.number() == number).unwrap_or_default()
    }

    fn reverts(self, env: &CallEnv<'_>) -> bool {
        match self {
            Self::Standard => false,
            Self::RevertsInBlock => env.execution == CallExecution::Block,
            Self::RevertsAtGasPrice => !env.gas_price.is_zero(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wallet {
    pub(crate) owner: Address,
    pub(crate) kind: WalletKind,
}

/// Unknown calls succeed, as at real wallets.
pub(crate) fn call(
    view: &mut StateView<'_>,
    env: &CallEnv<'_>,
    wallet: Wallet,
    data: &[u8],
) -> ContractResult {
    if !data.starts_with(&Confirm::SELECTOR) {
        return Ok(Bytes::new());
    }
    view.spend(6_000);
    if wallet.kind.reverts(env) {
        return Err(Revert::silent());
    }
    let asked = Confirm::abi_decode_validate(data).map_err(|_| Revert::silent())?;
    let yes = signer(asked.hash, &asked.signature) == Some(wallet.owner);
    let said = if yes { Confirm::SELECTOR.into() } else { NO };
    Ok(Confirm::abi_encode_returns(&said).into())
}

fn signer(digest: B256, signature: &[u8]) -> Option<Address> {
    recover(digest, signature.try_into().ok()?)
}

/// What a caller reads from the answer of an account with code.
pub(crate) enum Confirmation {
    Given,
    Denied,
}

/// Asks an account with code about a signature. It fails if the account's code reverts, or
/// returns what cannot be read.
pub(crate) fn confirm(
    view: &mut StateView<'_>,
    env: &CallEnv<'_>,
    wallet: Address,
    digest: B256,
    signature: &[u8],
) -> Result<Confirmation, Revert> {
    let asked = Confirm { hash: digest, signature: Bytes::copy_from_slice(signature) };
    let said = env.call(view, wallet, wallet, &asked.abi_encode())?;
    match Confirm::abi_decode_returns(&said) {
        Ok(said) if said.0 == Confirm::SELECTOR => Ok(Confirmation::Given),
        Ok(_) => Ok(Confirmation::Denied),
        Err(_) => Err(Revert::silent()),
    }
}
