//! Amounts of USDC, in its smallest units.

use std::fmt;
use std::str::FromStr;

const DECIMALS: usize = 6;
const UNITS_PER_USDC: u64 = 1_000_000;

/// Six decimals, so 3.50 USDC is 3 500 000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UsdcAmount(u64);

impl UsdcAmount {
    pub const fn from_atomic(units: u64) -> Self {
        Self(units)
    }

    pub const fn atomic(self) -> u64 {
        self.0
    }

    /// From a number of the smallest units, in digits only.
    pub(crate) fn from_digits(text: &str) -> Option<Self> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|_| digits).map(Self)
    }
}

/// From an amount such as `3.50`, with at most six decimals.
impl FromStr for UsdcAmount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "write USDC with a point and at most six decimals, like 3.50".to_owned();
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || decimals.len() > DECIMALS || !digits(whole) || !digits(decimals) {
            return Err(wrong());
        }
        let units = format!("{whole}{decimals:0<DECIMALS$}");
        units.parse().map(Self).map_err(|_| wrong())
    }
}

/// With at least two decimals, and no more than needed.
impl fmt::Display for UsdcAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / UNITS_PER_USDC, format!("{:06}", self.0 % UNITS_PER_USDC));
        let decimals = rest.trim_end_matches('0').len().max(2);
        write!(f, "{whole}.{}", &rest[..decimals])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_to_the_last_unit() {
        let read = |text: &str| text.parse().map(UsdcAmount::atomic).ok();
        assert_eq!(read("3.50"), Some(3_500_000));
        assert_eq!(read("3"), Some(3_000_000));
        assert_eq!(read("0.000001"), Some(1));
        for wrong in ["", ".5", "3,50", "-1", "1.0000001", "$3.50", "+1", "99999999999999999999"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn amounts_are_written_as_people_write_money() {
        let written = |units| UsdcAmount::from_atomic(units).to_string();
        assert_eq!(written(3_500_000), "3.50");
        assert_eq!(written(2_117_500), "2.1175");
        assert_eq!(written(1), "0.000001");
        assert_eq!(written(0), "0.00");
    }

    #[test]
    fn a_number_of_units_has_digits_only() {
        assert_eq!(UsdcAmount::from_digits("3500000"), Some(UsdcAmount(3_500_000)));
        for wrong in ["", "+1", "-1", "1.0", "99999999999999999999"] {
            assert_eq!(UsdcAmount::from_digits(wrong), None, "{wrong}");
        }
    }
}
