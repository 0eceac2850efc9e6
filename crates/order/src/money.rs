//! Money, in integers only.

use std::fmt;

/// US cents, as the provider states what a card costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cents(pub u64);

/// USDC in atomic units: six decimals, so 3.50 USDC is 3 500 000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Usdc(u64);

const ATOMIC_PER_CENT: u64 = 10_000;
const MARGIN_PERCENT: u64 = 21;
const ATOMIC_PER_CENT_WITH_MARGIN: u64 = ATOMIC_PER_CENT * (100 + MARGIN_PERCENT) / 100;

// A cent plus the margin is a whole number of atomic units, so the charge
// never needs rounding and no rounding rule has to be argued about.
const _: () = assert!((ATOMIC_PER_CENT * (100 + MARGIN_PERCENT)).is_multiple_of(100));

impl Cents {
    /// None if the sum is too large for any money we will ever see.
    fn plus_margin(self) -> Option<Usdc> {
        self.0.checked_mul(ATOMIC_PER_CENT_WITH_MARGIN).map(Usdc)
    }
}

impl Usdc {
    pub const fn from_atomic(units: u64) -> Self {
        Self(units)
    }

    pub const fn from_cents(cents: Cents) -> Self {
        Self(cents.0 * ATOMIC_PER_CENT)
    }

    pub const fn atomic(self) -> u64 {
        self.0
    }
}

/// Written as people write money: at least two decimals, no more than needed.
impl fmt::Display for Usdc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 1_000_000, format!("{:06}", self.0 % 1_000_000));
        let decimals = rest.trim_end_matches('0').len().max(2);
        write!(f, "{whole}.{}", &rest[..decimals])
    }
}

/// The most that anybody is asked to pay for one postcard, on either rail.
pub const CEILING: Usdc = Usdc::from_cents(Cents(350));

/// How a way of paying turns the provider's total into a charge.
///
/// This is the whole difference between the two protocols' prices, held as a
/// value so that no caller has to ask which protocol it is serving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Price {
    /// What it costs plus the margin, never above the ceiling (x402 `upto`).
    UpTo(Usdc),
    /// This much, whatever it costs us (MPP `charge`).
    Fixed(Usdc),
}

impl Price {
    /// The most that a payer is asked to authorize.
    pub const fn ceiling(self) -> Usdc {
        match self {
            Self::UpTo(most) | Self::Fixed(most) => most,
        }
    }

    /// The charge for a card that costs us `cost`.
    ///
    /// A fixed price does not sell below cost plus margin either: both ways of
    /// paying refuse the same cards.
    pub fn charge(self, cost: Cents) -> Result<Usdc, AboveCeiling> {
        let owed = cost.plus_margin().filter(|owed| *owed <= self.ceiling()).ok_or(AboveCeiling)?;
        Ok(match self {
            Self::UpTo(_) => owed,
            Self::Fixed(price) => price,
        })
    }
}

/// The card costs more than the payer was asked to authorize.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AboveCeiling;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upto_charges_cost_plus_margin_to_the_last_unit() {
        let charge = |cents| Price::UpTo(CEILING).charge(Cents(cents)).map(Usdc::atomic);
        assert_eq!(charge(1), Ok(12_100));
        assert_eq!(charge(175), Ok(2_117_500));
        assert_eq!(charge(289), Ok(3_496_900));
    }

    #[test]
    fn both_ways_of_paying_refuse_a_card_that_costs_more_than_the_ceiling_allows() {
        for price in [Price::UpTo(CEILING), Price::Fixed(CEILING)] {
            for cents in [290, 350, u64::MAX] {
                assert_eq!(price.charge(Cents(cents)), Err(AboveCeiling), "{cents}");
            }
        }
    }

    #[test]
    fn fixed_charges_the_same_for_every_cost() {
        assert_eq!(Price::Fixed(CEILING).charge(Cents(80)), Ok(CEILING));
        assert_eq!(Price::Fixed(CEILING).charge(Cents(289)), Ok(CEILING));
    }

    #[test]
    fn money_is_written_as_people_write_it() {
        let written = |units| Usdc::from_atomic(units).to_string();
        assert_eq!(written(3_500_000), "3.50");
        assert_eq!(written(2_117_500), "2.1175");
        assert_eq!(written(1), "0.000001");
        assert_eq!(written(0), "0.00");
    }
}
