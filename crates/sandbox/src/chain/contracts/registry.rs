//! Which contract is at which address.

use alloy_primitives::{Address, U256};

use crate::chain::contracts::env::CallEnv;
use crate::chain::contracts::wallet::{Wallet, WalletKind};
use crate::chain::ens::names;
use crate::chain::network::{ChainId, MULTICALL3, PERMIT2, UPTO_PROXY, address};
use crate::chain::node::state::{Slot, StateView};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EmulatedContract {
    Usdc,
    Permit2,
    UptoProxy,
    UniversalResolver,
    Multicall3,
    Wallet(Wallet),
    /// A contract that confirms no signature, or the name resolver.
    Other,
}

pub(crate) fn at(
    view: &StateView<'_>,
    env: &CallEnv<'_>,
    place: Address,
) -> Option<EmulatedContract> {
    if place == env.chain.usdc() {
        Some(EmulatedContract::Usdc)
    } else if place == address(PERMIT2) {
        Some(EmulatedContract::Permit2)
    } else if place == address(UPTO_PROXY) {
        Some(EmulatedContract::UptoProxy)
    } else if place == MULTICALL3 {
        Some(EmulatedContract::Multicall3)
    } else if env.chain == ChainId::Ethereum && place == env.names.universal_resolver() {
        Some(EmulatedContract::UniversalResolver)
    } else if env.chain == ChainId::Ethereum && place == names::resolver() {
        Some(EmulatedContract::Other)
    } else {
        match view.peek(Slot::Code(place)) {
            none if none.is_zero() => None,
            silent if silent == U256::ONE => Some(EmulatedContract::Other),
            owner => {
                let kind = WalletKind::from_number(view.peek(Slot::WalletKind(place)));
                Some(EmulatedContract::Wallet(Wallet {
                    owner: Address::from_word(owner.into()),
                    kind,
                }))
            }
        }
    }
}
