//! The four emulated chains and the addresses of their contracts.

use alloy_primitives::Address;
use evm::contracts;
use order::model::chain::{EvmAddress, Network};

/// An emulated chain: three for payments, one for names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChainId {
    Ethereum,
    Base,
    Polygon,
    Arbitrum,
}

impl ChainId {
    pub const ALL: [Self; 4] = [Self::Ethereum, Self::Base, Self::Polygon, Self::Arbitrum];

    pub const fn number(self) -> u64 {
        match self {
            Self::Ethereum => 1,
            Self::Base => Network::Base.chain_id(),
            Self::Polygon => Network::Polygon.chain_id(),
            Self::Arbitrum => Network::Arbitrum.chain_id(),
        }
    }

    pub fn from_number(number: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|chain| chain.number() == number)
    }

    pub(crate) fn usdc(self) -> Address {
        Address::new(match self {
            Self::Ethereum => contracts::USDC_ETHEREUM,
            Self::Base => contracts::USDC_BASE,
            Self::Polygon => contracts::USDC_POLYGON,
            Self::Arbitrum => contracts::USDC_ARBITRUM,
        })
    }
}

impl From<Network> for ChainId {
    fn from(network: Network) -> Self {
        match network {
            Network::Base => Self::Base,
            Network::Polygon => Self::Polygon,
            Network::Arbitrum => Self::Arbitrum,
        }
    }
}

/// Uniswap's Permit2, the same on every chain.
pub const PERMIT2: EvmAddress = EvmAddress::from_bytes(contracts::PERMIT2);

/// The x402 proxy of the scheme `upto`, the same on every chain.
pub const UPTO_PROXY: EvmAddress = EvmAddress::from_bytes(contracts::UPTO_PROXY);

/// The default address of the ENS Universal Resolver on Ethereum.
pub const UNIVERSAL_RESOLVER: EvmAddress = EvmAddress::from_bytes(contracts::UNIVERSAL_RESOLVER);

pub(crate) const MULTICALL3: Address = Address::new(contracts::MULTICALL3);

pub(crate) fn address(evm_address: EvmAddress) -> Address {
    evm_address.bytes().into()
}

pub(crate) fn evm_address(address: Address) -> EvmAddress {
    EvmAddress::from_bytes(address.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The core has its own list of token contracts, because it knows no chain crate.
    #[test]
    fn the_usdc_of_every_network_is_the_one_that_the_core_names() {
        for network in Network::ALL {
            assert_eq!(evm_address(ChainId::from(network).usdc()), network.usdc());
        }
    }
}
