//! The contracts of the sandbox: who answers a call, and how one fails.

pub(super) mod ens;
mod multicall;
pub(super) mod permit2;
pub(super) mod upto;
pub(super) mod usdc;
mod usdc_signed;
mod wallet;

use alloy_primitives::{Address, Bytes, U256};
use alloy_sol_types::{Revert as Reason, SolError, SolEvent};

use super::names::{self, Names};
use super::network::{ChainId, MULTICALL3, PERMIT2, UPTO_PROXY, address};
use super::state::{Event, Slot, View};
use wallet::Wallet;
pub use wallet::WalletKind;

/// The surroundings of a call.
#[derive(Clone, Copy)]
pub(super) struct Env<'a> {
    pub(super) chain: ChainId,
    /// The block's time, in seconds.
    pub(super) now: u64,
    pub(super) names: &'a Names,
    /// What the sender pays for a unit of gas; zero in a read that names no fees.
    pub(super) gas_price: U256,
    pub(super) execution: Execution,
}

/// Where a call is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Execution {
    Simulation,
    Block,
}

/// A call that failed, with the bytes that say why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Revert(pub(super) Bytes);

impl Revert {
    /// As Solidity's `require` says it.
    pub(super) fn reason(words: &str) -> Self {
        Self(Reason::from(words).abi_encode().into())
    }

    pub(super) fn error(error: &impl SolError) -> Self {
        Self(error.abi_encode().into())
    }

    /// As a contract says it that does not know what was asked.
    pub(super) fn silent() -> Self {
        Self(Bytes::new())
    }
}

pub(super) type Answer = Result<Bytes, Revert>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contract {
    Usdc,
    Permit2,
    UptoProxy,
    UniversalResolver,
    Multicall3,
    Wallet(Wallet),
    /// A contract or the names' resolver: it has code, and confirms no signature.
    Other,
}

pub(super) fn at(view: &View<'_>, env: &Env<'_>, place: Address) -> Option<Contract> {
    if place == env.chain.usdc() {
        Some(Contract::Usdc)
    } else if place == address(PERMIT2) {
        Some(Contract::Permit2)
    } else if place == address(UPTO_PROXY) {
        Some(Contract::UptoProxy)
    } else if place == MULTICALL3 {
        Some(Contract::Multicall3)
    } else if env.chain == ChainId::Ethereum && place == env.names.universal_resolver() {
        Some(Contract::UniversalResolver)
    } else if env.chain == ChainId::Ethereum && place == names::resolver() {
        Some(Contract::Other)
    } else {
        match view.peek(Slot::Code(place)) {
            none if none.is_zero() => None,
            silent if silent == U256::ONE => Some(Contract::Other),
            owner => {
                let kind = WalletKind::from_number(view.peek(Slot::WalletKind(place)));
                Some(Contract::Wallet(Wallet { owner: Address::from_word(owner.into()), kind }))
            }
        }
    }
}

/// Calls whatever lives at this address. Where nothing does, the call succeeds
/// and says nothing, as on any chain.
pub(super) fn call(
    view: &mut View<'_>,
    env: &Env<'_>,
    sender: Address,
    to: Address,
    data: &[u8],
) -> Answer {
    view.spend(2_600);
    view.attempt(|view| match at(view, env, to) {
        Some(Contract::Usdc) => usdc::call(view, env, sender, data),
        Some(Contract::Permit2) => permit2::call(view, env, sender, data),
        Some(Contract::UptoProxy) => upto::call(view, env, sender, data),
        Some(Contract::UniversalResolver) => ens::call(env, data),
        Some(Contract::Multicall3) => multicall::call(view, env, data),
        Some(Contract::Wallet(wallet)) => wallet::call(view, env, wallet, data),
        Some(Contract::Other) | None => Ok(Bytes::new()),
    })
}

fn emit(view: &mut View<'_>, place: Address, event: &impl SolEvent) {
    let log = event.encode_log_data();
    view.emit(Event { address: place, topics: log.topics().to_vec(), data: log.data });
}

#[cfg(test)]
mod tests;
