//! The VAT that a charge includes.

use std::fmt;
use std::str::FromStr;

use crate::config::fault::SettingProblem;
use crate::config::values::ReportText;

/// A rate in hundredths of a percent, from 0 to 100 percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VatRate(u16);

const WHOLE: u64 = 10_000;

impl VatRate {
    pub(crate) fn parse(text: &str) -> Result<Self, SettingProblem> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "00"));
        let digits = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
        let hundredths = match decimals.len() {
            1 | 2 if digits(decimals) && digits(whole) => {
                format!("{whole}{decimals:0<2}").parse().ok()
            }
            _ => None,
        };
        let fits = |rate: &u16| u64::from(*rate) <= WHOLE && !whole.is_empty();
        hundredths.filter(fits).map(Self).ok_or_else(|| {
            SettingProblem::new(
                format!("`{text}` is not a percentage"),
                "Write a number from 0 to 100 with up to two decimals, such as 19 or 8.1.",
            )
        })
    }

    /// The tax in an amount that includes it, rounded half up to one unit.
    pub(crate) fn included_in(self, amount: u64) -> u64 {
        let (rate, amount) = (u128::from(self.0), u128::from(amount));
        let whole = u128::from(WHOLE) + rate;
        let tax = (2 * amount * rate + whole) / (2 * whole);
        // The tax is below the amount.
        u64::try_from(tax).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for VatRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 100, format!("{:02}", self.0 % 100));
        match rest.trim_end_matches('0') {
            "" => write!(f, "{whole}"),
            decimals => write!(f, "{whole}.{decimals}"),
        }
    }
}

impl FromStr for VatRate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text).map_err(|problem| format!("{}. {}", problem.message, problem.remedy))
    }
}

impl ReportText for VatRate {
    fn report_text(&self) -> String {
        self.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_has_up_to_two_decimals() {
        for (text, shown) in [
            ("0", "0"),
            ("19", "19"),
            ("8.1", "8.1"),
            ("5.50", "5.5"),
            ("100", "100"),
            ("7.07", "7.07"),
        ] {
            assert_eq!(VatRate::parse(text).unwrap().to_string(), shown);
        }
        for text in ["", ".5", "5.", "-1", "19%", "100.01", "1.234", "1,9", "99999999"] {
            assert!(VatRate::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_tax_is_the_part_of_the_charge_that_is_tax() {
        let vat = |rate: &str, amount| VatRate::parse(rate).unwrap().included_in(amount);
        assert_eq!(vat("19", 1_190_000), 190_000);
        assert_eq!(vat("0", 1_190_000), 0);
        assert_eq!(vat("100", 3), 2, "1.5 is rounded up");
        assert_eq!(vat("20", 1), 0, "a sixth is rounded down");
        assert_eq!(vat("8.1", 1_452_000), 108_799);
        assert_eq!(vat("100", u64::MAX), u64::MAX / 2 + 1);
    }
}
