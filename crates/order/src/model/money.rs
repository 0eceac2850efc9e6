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
// never needs rounding.
const _: () = assert!((ATOMIC_PER_CENT * (100 + MARGIN_PERCENT)).is_multiple_of(100));

impl Cents {
    /// None if the sum overflows.
    fn plus_margin(self) -> Option<Usdc> {
        self.0.checked_mul(ATOMIC_PER_CENT_WITH_MARGIN).map(Usdc)
    }

    fn at_cost(self) -> Option<Usdc> {
        self.0.checked_mul(ATOMIC_PER_CENT).map(Usdc)
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

/// The most that a payer is asked to pay for one postcard, on either rail.
pub const CEILING: Usdc = Usdc::from_cents(Cents(350));

/// How a way of paying turns the provider's total into a charge.
///
/// This is the only difference between the prices of the two protocols. It is a value, so
/// that no caller branches on the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Price {
    /// What it costs plus the margin; a card for which that is above the ceiling is refused (x402
    /// `upto`).
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

    /// The charge for a card that costs us `cost`. A fixed price covers every cost up to
    /// the price itself: the margin is the other rule's.
    pub fn charge(self, cost: Cents) -> Result<Usdc, AboveCeiling> {
        match self {
            Self::UpTo(most) => cost.plus_margin().filter(|owed| *owed <= most),
            Self::Fixed(price) => cost.at_cost().filter(|cost| *cost <= price).map(|_| price),
        }
        .ok_or(AboveCeiling)
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
    fn upto_refuses_a_card_whose_cost_and_margin_are_above_the_ceiling() {
        for cents in [290, 350, u64::MAX] {
            let charge = Price::UpTo(CEILING).charge(Cents(cents));
            assert_eq!(charge, Err(AboveCeiling), "{cents}");
        }
    }

    #[test]
    fn a_fixed_price_refuses_only_a_card_that_costs_more_than_the_price() {
        for cents in [80, 289, 290, 340, 350] {
            assert_eq!(Price::Fixed(CEILING).charge(Cents(cents)), Ok(CEILING), "{cents}");
        }
        for cents in [351, u64::MAX] {
            let charge = Price::Fixed(CEILING).charge(Cents(cents));
            assert_eq!(charge, Err(AboveCeiling), "{cents}");
        }
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
