//! What the settler may spend on gas, and which payers it accepts.

use std::time::Duration;

use order::model::chain::Network;

/// How long fees and balance are cached.
pub(super) const TERMS_LIFE: Duration = Duration::from_millis(200);
/// How long a contract wallet is refused after its payment failed in a block.
pub(super) const WALLET_REFUSED_SECONDS: u64 = 60 * 60;

/// Whether contract wallets may pay. Code can pass a simulation and fail in a block, which costs
/// us gas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContractWallets {
    Accepted,
    Refused,
}

/// Limits of gas, and the threshold of the balance alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettlerLimits {
    /// The highest fee per gas, priority fee included, in wei.
    pub fee_cap: u128,
    /// The highest gas limit of a transaction.
    pub gas_max: u64,
    /// The most that may be spent on gas in an hour, in wei.
    pub gas_budget_per_hour: u128,
    /// Below this balance an alert is logged, in wei.
    pub low_balance: u128,
    /// The depth at which a block counts as final, for nodes without finalized blocks.
    pub confirmations: u64,
}

const GWEI: u128 = 1_000_000_000;
/// A settlement takes about 110,000; a contract wallet may take more.
const GAS_MAX: u64 = 1_000_000;

impl SettlerLimits {
    /// Defaults of a network: the alert leaves gas for some hundred payments, the hourly budget
    /// pays for some thousand at ten times the usual fee, and blocks count as final after half an
    /// hour.
    pub const fn of(network: Network) -> Self {
        let (fee_cap, budget, low_balance, confirmations) = match network {
            Network::Base => (5 * GWEI, 200_000_000 * GWEI, 1_000_000 * GWEI, 900),
            Network::Polygon => (1_000 * GWEI, 1_000_000_000_000 * GWEI, 2_000_000_000 * GWEI, 900),
            Network::Arbitrum => (5 * GWEI, 200_000_000 * GWEI, 1_000_000 * GWEI, 7_200),
        };
        Self { fee_cap, gas_max: GAS_MAX, gas_budget_per_hour: budget, low_balance, confirmations }
    }
}
