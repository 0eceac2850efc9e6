//! The values of `pennyblack pay` on the command line, and how people write them.

use order::model::chain::Network;
use order::model::money::Usdc;

const DECIMALS: usize = 6;

/// The protocol that a card is paid by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rail {
    X402,
    Mpp,
}

impl Rail {
    pub(crate) const ALL: [Self; 2] = [Self::X402, Self::Mpp];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::X402 => "x402",
            Self::Mpp => "mpp",
        }
    }
}

pub(crate) fn rail(text: &str) -> Result<Rail, String> {
    let known = Rail::ALL.into_iter().find(|rail| rail.word() == text);
    known.ok_or_else(|| "one of x402, mpp".to_owned())
}

/// An amount such as `3.50`, to the last of USDC's six decimals.
pub(crate) fn usdc(text: &str) -> Result<Usdc, String> {
    let wrong = || "write USDC with a point and at most six decimals, like 3.50".to_owned();
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || decimals.len() > DECIMALS || !digits(whole) || !digits(decimals) {
        return Err(wrong());
    }
    let atomic = format!("{whole}{decimals:0<DECIMALS$}");
    atomic.parse().map(Usdc::from_atomic).map_err(|_| wrong())
}

pub(crate) fn network(text: &str) -> Result<Network, String> {
    let known = Network::ALL
        .into_iter()
        .find(|network| text == name(*network).to_lowercase() || text == network.caip2());
    known.ok_or_else(|| "one of base, polygon, arbitrum".to_owned())
}

pub(super) const fn name(network: Network) -> &'static str {
    match network {
        Network::Base => "Base",
        Network::Polygon => "Polygon",
        Network::Arbitrum => "Arbitrum",
    }
}

/// What its users pay for transactions with.
pub(super) const fn coin(network: Network) -> &'static str {
    match network {
        Network::Base | Network::Arbitrum => "ETH",
        Network::Polygon => "POL",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_to_the_last_unit() {
        let read = |text| usdc(text).map(Usdc::atomic).ok();
        assert_eq!(read("3.50"), Some(3_500_000));
        assert_eq!(read("3"), Some(3_000_000));
        assert_eq!(read("0.000001"), Some(1));
        for wrong in ["", ".5", "3,50", "-1", "1.0000001", "$3.50", "+1", "99999999999999999999"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn networks_have_a_name_and_a_number() {
        assert_eq!(network("polygon"), Ok(Network::Polygon));
        assert_eq!(network("eip155:42161"), Ok(Network::Arbitrum));
        assert!(network("ethereum").is_err());
        assert_eq!(Rail::ALL.map(|one| rail(one.word())), Rail::ALL.map(Ok));
        assert!(rail("lightning").is_err());
    }
}
