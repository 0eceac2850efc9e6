//! The networks on which USDC is paid.

use std::str::FromStr;

use evm::contracts;

use super::account::EvmAccount;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PaymentNetwork {
    Base,
    Polygon,
    Arbitrum,
}

impl PaymentNetwork {
    pub const ALL: [Self; 3] = [Self::Base, Self::Polygon, Self::Arbitrum];

    pub(crate) const fn chain_id(self) -> u64 {
        match self {
            Self::Base => 8453,
            Self::Polygon => 137,
            Self::Arbitrum => 42161,
        }
    }

    /// The CAIP-2 name, as both protocols write it.
    pub(crate) fn caip2(self) -> String {
        format!("eip155:{}", self.chain_id())
    }

    pub(crate) fn from_caip2(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|network| network.caip2() == text)
    }

    pub(crate) const fn usdc(self) -> EvmAccount {
        EvmAccount(match self {
            Self::Base => contracts::USDC_BASE,
            Self::Polygon => contracts::USDC_POLYGON,
            Self::Arbitrum => contracts::USDC_ARBITRUM,
        })
    }

    /// The EIP-712 domain of USDC. It is known, so no server is asked for it.
    pub(crate) fn usdc_domain(self) -> [u8; 32] {
        contracts::usdc_domain(self.chain_id(), self.usdc().0)
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Base => "Base",
            Self::Polygon => "Polygon",
            Self::Arbitrum => "Arbitrum",
        }
    }

    /// The coin with which transactions are paid for.
    pub(crate) const fn coin(self) -> &'static str {
        match self {
            Self::Base | Self::Arbitrum => "ETH",
            Self::Polygon => "POL",
        }
    }
}

/// By its name in lower case, or its CAIP-2 name.
impl FromStr for PaymentNetwork {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL
            .into_iter()
            .find(|network| text == network.name().to_lowercase() || text == network.caip2());
        known.ok_or_else(|| "one of base, polygon, arbitrum".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_have_a_name_and_a_number() {
        assert_eq!("polygon".parse(), Ok(PaymentNetwork::Polygon));
        assert_eq!("eip155:42161".parse(), Ok(PaymentNetwork::Arbitrum));
        assert!("ethereum".parse::<PaymentNetwork>().is_err());
    }
}
