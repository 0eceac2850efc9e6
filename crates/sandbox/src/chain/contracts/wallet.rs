//! A wallet that is a contract: it confirms what its owner's key has signed (ERC-1271).

use alloy_primitives::{Address, B256, Bytes, FixedBytes};
use alloy_sol_types::SolCall;

use super::super::abi::Wallet::isValidSignatureCall as Confirm;
use super::super::state::View;
use super::{Answer, Env, Revert};
use crate::keys::recover;

/// Yes is the function's own selector; this is what wallets say instead.
const NO: FixedBytes<4> = FixedBytes([0xff; 4]);

/// A wallet takes whatever it does not know, as real ones do.
pub(super) fn call(view: &mut View<'_>, owner: Address, data: &[u8]) -> Answer {
    if !data.starts_with(&Confirm::SELECTOR) {
        return Ok(Bytes::new());
    }
    view.spend(6_000);
    let asked = Confirm::abi_decode_validate(data).map_err(|_| Revert::silent())?;
    let yes = signer(asked.hash, &asked.signature) == Some(owner);
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
