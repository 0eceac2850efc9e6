//! The hourly gas budget, and the alert for a low balance.

use std::collections::VecDeque;
use std::time::Duration;

use order::model::chain::{EvmAddress, Network};

use crate::measurements;

const HOUR: Duration = Duration::from_secs(60 * 60);

/// Gas that was signed for in the last hour, in wei.
pub(super) struct GasBudget {
    most: u128,
    total: u128,
    spent: VecDeque<(Duration, u128)>,
    level: Option<Level>,
    told: Option<Duration>,
}

/// Whether the account holds enough for the next payments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Enough,
    Low,
}

impl GasBudget {
    pub(super) fn new(most: u128) -> Self {
        Self { most, total: 0, spent: VecDeque::new(), level: None, told: None }
    }

    /// Whether this cost is within the budget.
    pub(super) fn allows(&mut self, cost: u128, now: Duration) -> bool {
        while let Some((then, old)) = self.spent.front().copied()
            && now.saturating_sub(then) >= HOUR
        {
            self.total = self.total.saturating_sub(old);
            self.spent.pop_front();
        }
        self.total.saturating_add(cost) <= self.most
    }

    pub(super) fn spend(&mut self, cost: u128, now: Duration) {
        self.total = self.total.saturating_add(cost);
        self.spent.push_back((now, cost));
    }

    /// Logs that the budget is spent, once an hour.
    pub(super) fn tell_spent(&mut self, network: Network, now: Duration) {
        if self.told.is_some_and(|then| now.saturating_sub(then) < HOUR) {
            return;
        }
        self.told = Some(now);
        tracing::error!(
            network = network.caip2(),
            "The gas budget of this hour is spent; payments there are refused until it refills"
        );
    }

    /// Records the balance, and logs when it becomes low or sufficient.
    pub(super) fn observe(
        &mut self,
        network: Network,
        account: EvmAddress,
        balance: u128,
        low: u128,
    ) {
        measurements::set_settler_balance(network, balance, low);
        let level = if balance < low { Level::Low } else { Level::Enough };
        match (self.level.replace(level), level) {
            (None | Some(Level::Enough), Level::Low) => tracing::warn!(
                network = network.caip2(),
                "The settler's account {account} runs out of gas; send it some of the \
                 network's own coin, or payments there will be refused"
            ),
            (Some(Level::Low), Level::Enough) => tracing::info!(
                network = network.caip2(),
                "The settler's account {account} has enough gas again"
            ),
            (None | Some(Level::Enough), Level::Enough) | (Some(Level::Low), Level::Low) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_refills_an_hour_after_it_was_spent() {
        let mut budget = GasBudget::new(100);
        let at = Duration::from_secs;
        assert!(budget.allows(100, at(0)) && !budget.allows(101, at(0)));
        budget.spend(60, at(0));
        budget.spend(40, at(10));
        assert!(!budget.allows(1, at(3_599)));
        assert!(budget.allows(60, at(3_600)) && !budget.allows(61, at(3_600)));
    }
}
