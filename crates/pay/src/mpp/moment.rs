//! Moments as RFC 3339 writes them, in whole seconds of universal time.

use order::ids::Timestamp;

const DAY_SECONDS: u64 = 86_400;
/// From 1 March of the year 0, where the count below begins, to 1 January 1970.
const DAYS_BEFORE_1970: u64 = 719_468;
const DAYS_IN_400_YEARS: u64 = 146_097;

/// As in `2026-11-15T09:30:00Z`.
pub(super) fn written(moment: Timestamp) -> String {
    let (days, rest) = (moment.0 / DAY_SECONDS, moment.0 % DAY_SECONDS);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    // By hand, as every challenge has one and a formatter takes its time for each number.
    let mut text = String::with_capacity("0000-00-00T00:00:00Z".len());
    let mut push = |number: u64, digits: u32, after: char| {
        for place in (0..digits).rev() {
            let digit = number / 10_u64.pow(place) % 10;
            text.extend(u32::try_from(digit).ok().and_then(|digit| char::from_digit(digit, 10)));
        }
        text.push(after);
    };
    push(year, 4, '-');
    push(month, 2, '-');
    push(day, 2, 'T');
    push(hour, 2, ':');
    push(minute, 2, ':');
    push(second, 2, 'Z');
    text
}

/// Reads what was written here, and nothing else: nobody else's dates come back to us.
pub(super) fn read(text: &str) -> Option<Timestamp> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let days = days_since_march(year, month, day)?.checked_sub(DAYS_BEFORE_1970)?;
    let moment = Timestamp(days * DAY_SECONDS + hour * 3_600 + minute * 60 + second);
    // What does not come out as it went in was no such date.
    (written(moment) == text).then_some(moment)
}

/// Year, month and day. Counted from March, so that the leap day ends its year.
fn date(days_since_1970: u64) -> (u64, u64, u64) {
    let days = days_since_1970 + DAYS_BEFORE_1970;
    let (era, day) = (days / DAYS_IN_400_YEARS, days % DAYS_IN_400_YEARS);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    (year + era * 400 + u64::from(month <= 2), month, day)
}

fn days_since_march(year: u64, month: u64, day: u64) -> Option<u64> {
    let (year, month_from_march) = match month {
        1 | 2 => (year.checked_sub(1)?, month + 9),
        3..=12 => (year, month - 3),
        _ => return None,
    };
    let leap_days = year / 4 - year / 100 + year / 400;
    Some(year * 365 + leap_days + (153 * month_from_march + 2) / 5 + day.checked_sub(1)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments_are_written_and_read_as_everybody_does() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (784_111_777, "1994-11-06T08:49:37Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(written(Timestamp(seconds)), text);
            assert_eq!(read(text), Some(Timestamp(seconds)));
        }
    }

    #[test]
    fn every_day_of_a_century_reads_back() {
        for day in 0..36_525 {
            let moment = Timestamp(day * DAY_SECONDS + day % DAY_SECONDS);
            assert_eq!(read(&written(moment)), Some(moment));
        }
    }

    #[test]
    fn what_is_no_date_of_ours_does_not_read() {
        for text in [
            "",
            "2026-11-15",
            "2026-11-15T09:30:00",
            "2026-11-15T09:30:00.000Z",
            "2026-11-15T09:30:00+00:00",
            "2026-11-15t09:30:00z",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-11-00T00:00:00Z",
            "2026-11-15T24:00:00Z",
            "2026-11-15T09:60:00Z",
            "+026-11-15T09:30:00Z",
            "1969-12-31T23:59:59Z",
            "0000-01-01T00:00:00Z",
            "2026-11-15T09:30:0é",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
