//! Times on the command line: a time, a day, or an age.

use std::str::FromStr;

use order::model::ids::Timestamp;

/// A point in time, as an operator writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeArgument {
    At(Timestamp),
    /// So many seconds ago.
    Ago(u64),
}

impl TimeArgument {
    pub(crate) fn before(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(at) => at,
            Self::Ago(seconds) => Timestamp(now.0.saturating_sub(seconds)),
        }
    }
}

impl FromStr for TimeArgument {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let day = || format!("{text}T00:00:00Z").parse().ok();
        let at = text.parse().ok().or_else(day).or_else(|| unix_time(text)).map(Self::At);
        at.or_else(|| age(text).map(Self::Ago)).ok_or(
            "write a time such as 2026-11-15T09:30:00Z, a day such as 2026-11-15, or an age such \
             as 2d, 12h or 30m",
        )
    }
}

/// Seconds since 1970, as `date +%s` prints them.
fn unix_time(text: &str) -> Option<Timestamp> {
    let digits = text.len() >= 9 && text.bytes().all(|digit| digit.is_ascii_digit());
    text.parse().ok().filter(|_| digits).map(Timestamp)
}

fn age(text: &str) -> Option<u64> {
    let unit = match text.chars().last()? {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        'w' => 7 * 24 * 60 * 60,
        _ => return None,
    };
    let count = text.get(..text.len() - 1)?;
    let digits = count.bytes().all(|digit| digit.is_ascii_digit());
    count.parse::<u64>().ok().filter(|_| digits)?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_days_and_ages_are_read() {
        let now = Timestamp(1_794_709_607);
        for (text, at) in [
            ("2026-11-15T02:26:47Z", 1_794_709_607),
            ("2026-11-15", 1_794_700_800),
            ("1794709607", 1_794_709_607),
            ("2d", 1_794_709_607 - 2 * 86_400),
            ("30m", 1_794_709_607 - 1_800),
            ("0s", 1_794_709_607),
        ] {
            assert_eq!(text.parse::<TimeArgument>().unwrap().before(now), Timestamp(at), "{text}");
        }
        for text in
            ["", "d", "-2d", "+2d", "2x", "yesterday", "2026-13-01", "99999999999999999999d", "é"]
        {
            assert!(text.parse::<TimeArgument>().is_err(), "{text}");
        }
    }
}
