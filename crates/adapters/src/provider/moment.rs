//! Moments as providers write them: a day and a time, with or without a zone.

use order::ids::Timestamp;

/// When the day of 1 March of year 0 began, in days before 1970.
const DAYS_TO_1970: u64 = 719_468;
const DAY_SECONDS: u64 = 86_400;

/// A moment, as exactly as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    Exact(Timestamp),
    /// No zone: so many hours to either side.
    Local(Timestamp),
}

impl Moment {
    /// Reads `2026-11-15T21:30:00.000Z` and `2026-11-15 21:30:00`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (day, rest) = text.split_at_checked(10)?;
        let (time, zone) = rest.get(1..)?.split_at_checked(8)?;
        if !matches!(rest.as_bytes().first(), Some(b'T' | b' ')) {
            return None;
        }
        let at = Timestamp(days(day)? * DAY_SECONDS + seconds(time)?);
        let zone = zone.trim_start_matches(|letter: char| letter == '.' || letter.is_ascii_digit());
        match zone {
            "Z" | "+00:00" => Some(Self::Exact(at)),
            "" => Some(Self::Local(at)),
            _ => None,
        }
    }

    /// The latest that it can have been.
    pub(super) const fn latest(self) -> Timestamp {
        // The clocks of the westernmost zone are this far behind.
        const ZONE_SECONDS: u64 = 12 * 60 * 60;
        match self {
            Self::Exact(at) => at,
            Self::Local(at) => at.plus(ZONE_SECONDS),
        }
    }
}

/// Writes a moment, for a provider that is told when to print.
pub(super) fn write(at: Timestamp) -> String {
    let (days, seconds) = (at.0 / DAY_SECONDS + DAYS_TO_1970, at.0 % DAY_SECONDS);
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

fn days(day: &str) -> Option<u64> {
    let [year, month, day] = numbers(day, '-')?;
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    days.checked_sub(DAYS_TO_1970)
}

fn seconds(time: &str) -> Option<u64> {
    let [hour, minute, second] = numbers(time, ':')?;
    (hour < 24 && minute < 60 && second <= 60).then_some(hour * 3_600 + minute * 60 + second)
}

fn numbers(text: &str, between: char) -> Option<[u64; 3]> {
    let mut parts = text.split(between).map(|part| {
        let digits = part.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| part.parse().ok())?
    });
    let three = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(three)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_reads_back_as_written() {
        for at in [0, 951_782_399, 951_782_400, 1_798_761_599, 1_900_000_000, 4_107_542_400] {
            let text = write(Timestamp(at));
            assert_eq!(Moment::parse(&text), Some(Moment::Exact(Timestamp(at))), "{text}");
        }
        assert_eq!(write(Timestamp(951_782_400)), "2000-02-29T00:00:00Z");
        assert_eq!(write(Timestamp(1_755_190_093)), "2025-08-14T16:48:13Z");
    }

    #[test]
    fn a_zone_that_is_not_told_is_no_zone_at_all() {
        let at = Timestamp(1_755_190_093);
        for text in ["2025-08-14T16:48:13.000000Z", "2025-08-14T16:48:13+00:00"] {
            assert_eq!(Moment::parse(text), Some(Moment::Exact(at)), "{text}");
        }
        let local = Moment::parse("2025-08-14 16:48:13").unwrap();
        assert_eq!(local, Moment::Local(at));
        assert_eq!(local.latest(), at.plus(43_200));
    }

    #[test]
    fn what_is_no_moment_is_not_read() {
        for text in [
            "",
            "1 second ago",
            "2025-08-14",
            "2025-13-14 16:48:13",
            "2025-08-14 25:48:13",
            "2025-08-14x16:48:13",
            "2025-08-14 16:48:13+05:00",
            "+025-08-14 16:48:13",
            "1969-08-14 16:48:13",
            "äöüäöüäöü",
        ] {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
    }
}
