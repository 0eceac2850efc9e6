//! Fee offers.

use serde::{Deserialize, Serialize};

use crate::rpc::FeeHistory;

/// The fees of a transaction per gas, in wei.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fees {
    /// The maximum of base fee and priority fee together.
    pub most: u128,
    pub tip: u128,
}

impl Fees {
    /// The lowest fees that replace this transaction. Nodes require 10 % more of both; 12.5 %
    /// leaves a margin.
    fn outbid(self) -> Self {
        let more = |fee: u128| fee.saturating_add(fee / 8).saturating_add(1);
        Self { most: more(self.most), tip: more(self.tip) }
    }
}

/// The gas price and our balance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GasTerms {
    pub(super) gas_price: GasPrice,
    pub(super) balance: u128,
}

/// The current gas price, in wei.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GasPrice {
    pub(super) base: u128,
    pub(super) tip: u128,
    /// The block after which it applies.
    pub(super) head: u64,
}

impl GasPrice {
    /// The highest of the recent priority fees: empty blocks show none, and the fee is small.
    pub(super) fn of(history: &FeeHistory) -> Self {
        let tip = history.tips.iter().copied().max().unwrap_or_default();
        Self { base: history.next_base_fee, tip, head: history.head }
    }

    /// The price in the next block.
    pub(super) fn now(self) -> u128 {
        self.base.saturating_add(self.tip)
    }

    /// An offer that remains valid if the base fee doubles, limited by the cap. None if the cap
    /// is below the current price.
    pub(super) fn offer(self, cap: u128, replaces: Option<Fees>) -> Option<Fees> {
        let floor = replaces.map_or(Fees { most: 0, tip: 0 }, Fees::outbid);
        let tip = self.tip.max(floor.tip);
        let least = self.base.saturating_add(tip).max(floor.most);
        if least > cap {
            return None;
        }
        let wanted = self.base.saturating_mul(2).saturating_add(tip);
        Some(Fees { most: wanted.max(least).min(cap), tip })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAS_PRICE: GasPrice = GasPrice { base: 100, tip: 10, head: 0 };

    #[test]
    fn an_offer_covers_a_doubled_base_fee_unless_the_cap_is_lower() {
        assert_eq!(GAS_PRICE.offer(1_000, None), Some(Fees { most: 210, tip: 10 }));
        assert_eq!(GAS_PRICE.offer(150, None), Some(Fees { most: 150, tip: 10 }));
        assert_eq!(GAS_PRICE.offer(110, None), Some(Fees { most: 110, tip: 10 }));
        assert_eq!(GAS_PRICE.offer(109, None), None);
    }

    #[test]
    fn a_replacement_offers_an_eighth_more_in_both_and_never_more_than_the_cap() {
        let old = Fees { most: 800, tip: 80 };
        assert_eq!(GAS_PRICE.offer(1_000, Some(old)), Some(Fees { most: 901, tip: 91 }));
        assert_eq!(GAS_PRICE.offer(900, Some(old)), None);
        let low = Fees { most: 8, tip: 0 };
        assert_eq!(GAS_PRICE.offer(1_000, Some(low)), Some(Fees { most: 210, tip: 10 }));
    }

    #[test]
    fn the_priority_fee_is_the_highest_of_the_recent_ones() {
        let history = FeeHistory { head: 7, next_base_fee: 5, tips: vec![0, 3, 1] };
        assert_eq!(GasPrice::of(&history), GasPrice { base: 5, tip: 3, head: 7 });
    }
}
