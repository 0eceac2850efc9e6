//! A wallet that is a contract: it confirms what its owner's key has signed (ERC-1271).

use alloy_primitives::{Address, B256, Bytes, FixedBytes, U256};
use alloy_sol_types::SolCall;

use super::super::abi::Wallet::isValidSignatureCall as Confirm;
use super::super::state::View;
use super::{Answer, Env, Execution, Revert};
use crate::keys::recover;

/// Yes is the function's own selector; this is what wallets say instead.
const NO: FixedBytes<4> = FixedBytes([0xff; 4]);

/// How a contract wallet answers `isValidSignature`. A contract can see where it is
/// run, so one that cheats passes a simulation and fails in the block.
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
    /// Every kind, as the controls call it.
    pub(in super::super) const NAMED: [(&'static str, Self); 3] = [
        ("standard", Self::Standard),
        ("reverts_in_block", Self::RevertsInBlock),
        ("reverts_at_gas_price", Self::RevertsAtGasPrice),
    ];

    pub(in super::super) fn number(self) -> U256 {
        match self {
            Self::Standard => U256::ZERO,
            Self::RevertsInBlock => U256::ONE,
            Self::RevertsAtGasPrice => U256::from(2),
        }
    }

    pub(super) fn from_number(number: U256) -> Self {
        let mut kinds = Self::NAMED.into_iter().map(|(_, kind)| kind);
        kinds.find(|kind| kind.number() == number).unwrap_or_default()
    }

    fn reverts(self, env: &Env<'_>) -> bool {
        match self {
            Self::Standard => false,
            Self::RevertsInBlock => env.execution == Execution::Block,
            Self::RevertsAtGasPrice => !env.gas_price.is_zero(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Wallet {
    pub(super) owner: Address,
    pub(super) kind: WalletKind,
}

/// A wallet takes whatever it does not know, as real ones do.
pub(super) fn call(view: &mut View<'_>, env: &Env<'_>, wallet: Wallet, data: &[u8]) -> Answer {
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
    let parts: &[u8; 65] = signature.try_into().ok()?;
    let (r, s) = (B256::from_slice(&parts[..32]), B256::from_slice(&parts[32..64]));
    recover(digest, parts[64], r, s)
}

/// What a contract asks of an account with code before it believes a signature.
pub(super) fn confirm(
    view: &mut View<'_>,
    env: &Env<'_>,
    wallet: Address,
    digest: B256,
    signature: &[u8],
) -> Result<(), Revert> {
    let asked = Confirm { hash: digest, signature: Bytes::copy_from_slice(signature) };
    let said = super::call(view, env, wallet, wallet, &asked.abi_encode())?;
    match Confirm::abi_decode_returns(&said) {
        Ok(said) if said.0 == Confirm::SELECTOR => Ok(()),
        Ok(_) | Err(_) => Err(Revert::silent()),
    }
}
