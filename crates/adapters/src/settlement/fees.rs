//! What we offer for gas, and when that is too much.

use serde::{Deserialize, Serialize};

use crate::rpc::FeeHistory;

/// What a transaction offers for a unit of gas, in wei.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fees {
    /// Base fee and tip together take no more than this.
    pub most: u128,
    pub tip: u128,
}

impl Fees {
    /// What a transaction must offer to take the place of this one. Nodes ask for a
    /// tenth more in both; an eighth leaves room for those that ask for more.
    fn outbid(self) -> Self {
        let more = |fee: u128| fee.saturating_add(fee / 8).saturating_add(1);
        Self { most: more(self.most), tip: more(self.tip) }
    }
}

/// What gas costs, and what our account has to pay for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GasTerms {
    pub(super) quote: Quote,
    pub(super) balance: u128,
}

/// What gas costs now, in wei.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quote {
    pub(super) base: u128,
    pub(super) tip: u128,
    /// The block after which it holds.
    pub(super) head: u64,
}

impl Quote {
    /// The dearest of the recent tips: an empty block says nothing, and a tip is small.
    pub(super) fn of(history: &FeeHistory) -> Self {
        let tip = history.tips.iter().copied().max().unwrap_or_default();
        Self { base: history.next_base_fee, tip, head: history.head }
    }

    /// What a unit of gas costs in the next block.
    pub(super) fn now(self) -> u128 {
        self.base.saturating_add(self.tip)
    }

    /// An offer that still holds when the base fee doubles, or less if the cap is
    /// lower. None if the cap is below what a block asks for now.
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

    const QUOTE: Quote = Quote { base: 100, tip: 10, head: 0 };

    #[test]
    fn an_offer_bears_a_doubled_base_fee_unless_the_cap_is_lower() {
        assert_eq!(QUOTE.offer(1_000, None), Some(Fees { most: 210, tip: 10 }));
        assert_eq!(QUOTE.offer(150, None), Some(Fees { most: 150, tip: 10 }));
        assert_eq!(QUOTE.offer(110, None), Some(Fees { most: 110, tip: 10 }));
        assert_eq!(QUOTE.offer(109, None), None);
    }

    #[test]
    fn a_replacement_offers_an_eighth_more_in_both_and_never_more_than_the_cap() {
        let old = Fees { most: 800, tip: 80 };
        assert_eq!(QUOTE.offer(1_000, Some(old)), Some(Fees { most: 901, tip: 91 }));
        assert_eq!(QUOTE.offer(900, Some(old)), None);
        let low = Fees { most: 8, tip: 0 };
        assert_eq!(QUOTE.offer(1_000, Some(low)), Some(Fees { most: 210, tip: 10 }));
    }

    #[test]
    fn the_tip_is_the_dearest_of_the_recent_ones() {
        let history = FeeHistory { head: 7, next_base_fee: 5, tips: vec![0, 3, 1] };
        assert_eq!(Quote::of(&history), Quote { base: 5, tip: 3, head: 7 });
    }
}
