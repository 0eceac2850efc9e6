//! The four chains of the sandbox, and where their contracts are.

use alloy_primitives::{Address, address};
use order::model::chain::{EvmAddress, Network};

/// A chain that the sandbox keeps: the three that carry money, and the one that
/// carries names.
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

    pub(super) fn usdc(self) -> Address {
        match self {
            Self::Ethereum => address!("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"),
            Self::Base => Network::Base.usdc().bytes().into(),
            Self::Polygon => Network::Polygon.usdc().bytes().into(),
            Self::Arbitrum => Network::Arbitrum.usdc().bytes().into(),
        }
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
pub const PERMIT2: EvmAddress =
    EvmAddress::from_bytes(address!("0x000000000022D473030F116dDEE9F6B43aC78BA3").0.0);

/// The x402 proxy of the scheme `upto`, the same on every chain.
pub const UPTO_PROXY: EvmAddress =
    EvmAddress::from_bytes(address!("0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002").0.0);

/// The ENS Universal Resolver on Ethereum, unless the settings place it elsewhere.
pub const UNIVERSAL_RESOLVER: EvmAddress =
    EvmAddress::from_bytes(address!("0xeEeEEEeE14D718C2B47D9923Deab1335E144EeEe").0.0);

pub(super) const MULTICALL3: Address = address!("0xcA11bde05977b3631167028862bE2a173976CA11");

pub(super) fn address(noun: EvmAddress) -> Address {
    noun.bytes().into()
}

pub(super) fn noun(address: Address) -> EvmAddress {
    EvmAddress::from_bytes(address.into())
}
