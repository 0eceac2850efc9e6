//! Moments as HTTP and machines write them.

const DAY_SECONDS: u64 = 86_400;
const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A moment in parts, of the calendar that HTTP uses.
struct Moment {
    year: u64,
    /// From 1.
    month: u64,
    day: u64,
    hour: u64,
    minute: u64,
    second: u64,
    weekday: &'static str,
}

impl Moment {
    /// Counts from 1 March of the year 0, so that the leap day ends its year.
    fn of(seconds: u64) -> Self {
        let (days, rest) = (seconds / DAY_SECONDS, seconds % DAY_SECONDS);
        let since_march = days + 719_468;
        let (era, day_of_era) = (since_march / 146_097, since_march % 146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let weekday = usize::try_from(days % 7).expect("less than seven");
        Self {
            year: year_of_era + era * 400 + u64::from(month <= 2),
            month,
            day: day_of_year - (153 * month_from_march + 2) / 5 + 1,
            hour: rest / 3_600,
            minute: rest / 60 % 60,
            second: rest % 60,
            weekday: WEEKDAYS[weekday],
        }
    }
}

/// As RFC 3339 writes it: `2026-11-15T09:30:00Z`.
pub(crate) fn rfc3339(seconds: u64) -> String {
    let Moment { year, month, day, hour, minute, second, .. } = Moment::of(seconds);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// As HTTP headers write it: `Sun, 15 Nov 2026 09:30:00 GMT`.
pub(crate) fn http_date(seconds: u64) -> String {
    let Moment { year, month, day, hour, minute, second, weekday } = Moment::of(seconds);
    let month = MONTHS[usize::try_from(month - 1).expect("less than twelve")];
    format!("{weekday}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments_are_written_as_everybody_writes_them() {
        for (seconds, date, header) in [
            (0, "1970-01-01T00:00:00Z", "Thu, 01 Jan 1970 00:00:00 GMT"),
            (784_111_777, "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "2000-02-29T00:00:00Z", "Tue, 29 Feb 2000 00:00:00 GMT"),
            (1_709_251_199, "2024-02-29T23:59:59Z", "Thu, 29 Feb 2024 23:59:59 GMT"),
            (4_107_542_400, "2100-03-01T00:00:00Z", "Mon, 01 Mar 2100 00:00:00 GMT"),
        ] {
            assert_eq!((rfc3339(seconds).as_str(), http_date(seconds).as_str()), (date, header));
        }
    }
}
