//! Moments, written as the providers and a postmark write them.

use order::ids::Timestamp;

const DAY_SECONDS: u64 = 86_400;
const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];

/// A day of the Gregorian calendar and the seconds since its midnight.
struct Moment {
    year: u64,
    month: u64,
    day: u64,
    seconds: u64,
}

impl Moment {
    /// Counts in years that begin in March, so that a leap day is the last of
    /// its year and every month has a fixed place.
    fn of(at: Timestamp) -> Self {
        let days = at.0 / DAY_SECONDS + 719_468;
        let (era, day_of_era) = (days / 146_097, days % 146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let (month, later) = if month_from_march < 10 {
            (month_from_march + 3, 0)
        } else {
            (month_from_march - 9, 1)
        };
        Self { year: era * 400 + year_of_era + later, month, day, seconds: at.0 % DAY_SECONDS }
    }
}

/// `2026-11-15T21:04:05.000000Z`, as thanks.io writes it.
pub(crate) fn instant(at: Timestamp) -> String {
    let Moment { seconds, .. } = Moment::of(at);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{}T{hour:02}:{minute:02}:{second:02}.000000Z", day(at))
}

/// `2026-11-15`.
pub(crate) fn day(at: Timestamp) -> String {
    let Moment { year, month, day, .. } = Moment::of(at);
    format!("{year:04}-{month:02}-{day:02}")
}

/// `15 NOV 2026`, as a postmark says it.
pub(crate) fn postmark(at: Timestamp) -> String {
    let Moment { year, month, day, .. } = Moment::of(at);
    let month = usize::try_from(month).ok().and_then(|month| MONTHS.get(month - 1));
    format!("{day} {} {year}", month.unwrap_or(&""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_the_calendar_has_them() {
        for (seconds, written) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_399, "2000-02-28T23:59:59.000000Z"),
            (951_782_400, "2000-02-29T00:00:00.000000Z"),
            (951_868_800, "2000-03-01T00:00:00.000000Z"),
            (1_798_761_599, "2026-12-31T23:59:59.000000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000000Z"),
        ] {
            assert_eq!(instant(Timestamp(seconds)), written);
        }
        assert_eq!(postmark(Timestamp(951_782_400)), "29 FEB 2000");
    }
}
