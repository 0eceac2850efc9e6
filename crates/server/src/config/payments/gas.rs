//! The limits of the `payments` section on gas.

use adapters::settlement::{ContractWallets, SettlerLimits};
use order::model::chain::Network;

use crate::config::fault::SettingProblem;
use crate::config::payments::NETWORKS;
use crate::config::reader::{FaultRecorded, SettingsReader};
use crate::config::settings;
use crate::config::values::{self, ReportText, choose};

const GWEI: u128 = 1_000_000_000;
/// A million ether: above every realistic limit, and far from overflowing.
const GWEI_MAX: u64 = 1_000_000_000_000_000;
/// From the gas of a plain transfer to that of a whole block.
const GAS_RANGE: std::ops::RangeInclusive<u64> = 21_000..=30_000_000;

/// Limits on what our own settler spends. Networks that are not listed have the defaults.
#[derive(Debug)]
pub(crate) struct GasConfig {
    max_fee: PerNetwork,
    budget: PerNetwork,
    max_gas: u64,
    pub(crate) contract_wallets: ContractWallets,
}

/// An amount in gwei for each listed network.
#[derive(Debug, Default)]
struct PerNetwork(Vec<(Network, u64)>);

impl PerNetwork {
    fn wei(&self, network: Network) -> Option<u128> {
        let listed = self.0.iter().find(|(known, _)| *known == network);
        listed.map(|(_, gwei)| u128::from(*gwei) * GWEI)
    }
}

impl GasConfig {
    pub(crate) fn limits(&self, network: Network) -> SettlerLimits {
        let default = SettlerLimits::of(network);
        SettlerLimits {
            fee_cap: self.max_fee.wei(network).unwrap_or(default.fee_cap),
            gas_max: self.max_gas,
            gas_budget_per_hour: self.budget.wei(network).unwrap_or(default.gas_budget_per_hour),
            ..default
        }
    }
}

pub(crate) fn read(reader: &mut SettingsReader) -> Result<GasConfig, FaultRecorded> {
    let max_fee = reader.take_optional(&settings::PAYMENTS_MAX_FEE, per_network);
    let budget = reader.take_optional(&settings::PAYMENTS_GAS_BUDGET, per_network);
    let max_gas =
        reader.take(&settings::PAYMENTS_MAX_GAS, |text| values::number::<u64>(text, GAS_RANGE));
    let wallets = reader.take(&settings::PAYMENTS_CONTRACT_WALLETS, values::yes_or_no);
    Ok(GasConfig {
        max_fee: max_fee?.unwrap_or_default(),
        budget: budget?.unwrap_or_default(),
        max_gas: max_gas?,
        contract_wallets: if wallets? {
            ContractWallets::Accepted
        } else {
            ContractWallets::Refused
        },
    })
}

fn per_network(text: &str) -> Result<PerNetwork, SettingProblem> {
    let mut amounts: Vec<(Network, u64)> = Vec::new();
    for one in text.split(',') {
        let named = one.trim().split_once('=');
        let (name, amount) =
            named.ok_or_else(|| SettingProblem::new("has no network", "Write it like base=5."))?;
        let network = choose(name.trim(), &NETWORKS)?;
        if amounts.iter().any(|(known, _)| *known == network) {
            return Err(SettingProblem::new(
                "has a network twice",
                "Set one amount for each network.",
            ));
        }
        amounts.push((network, values::number(amount.trim(), 1..=GWEI_MAX)?));
    }
    Ok(PerNetwork(amounts))
}

impl ReportText for PerNetwork {
    fn report_text(&self) -> String {
        let one =
            |(network, gwei): &(Network, u64)| format!("{} {gwei} gwei", network.report_text());
        self.0.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_that_are_not_listed_keep_their_defaults() {
        let gas = GasConfig {
            max_fee: per_network("base=7").unwrap(),
            budget: per_network("polygon=9, base=3").unwrap(),
            max_gas: 500_000,
            contract_wallets: ContractWallets::Accepted,
        };
        let (base, polygon) = (gas.limits(Network::Base), gas.limits(Network::Polygon));
        assert_eq!((base.fee_cap, base.gas_budget_per_hour), (7 * GWEI, 3 * GWEI));
        assert_eq!(polygon.fee_cap, SettlerLimits::of(Network::Polygon).fee_cap);
        assert_eq!((polygon.gas_budget_per_hour, polygon.gas_max), (9 * GWEI, 500_000));
    }

    #[test]
    fn an_amount_without_a_network_or_of_zero_is_rejected() {
        for text in ["5", "base", "base=0", "base=-1", "base=5,base=6", "moon=5", ""] {
            assert!(per_network(text).is_err(), "{text}");
        }
    }
}
