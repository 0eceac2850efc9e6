//! The protocols by which a card is paid.

use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaymentRail {
    X402,
    Mpp,
}

impl PaymentRail {
    pub const ALL: [Self; 2] = [Self::X402, Self::Mpp];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::X402 => "x402",
            Self::Mpp => "mpp",
        }
    }
}

impl FromStr for PaymentRail {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|rail| rail.name() == text);
        known.ok_or_else(|| "one of x402, mpp".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rail_is_read_by_its_name() {
        for rail in PaymentRail::ALL {
            assert_eq!(rail.name().parse(), Ok(rail));
        }
        assert!("lightning".parse::<PaymentRail>().is_err());
    }
}
