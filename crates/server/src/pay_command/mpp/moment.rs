//! A moment as RFC 3339 writes it, in seconds of the world's time.

const DAY_SECONDS: i64 = 86_400;

/// Seconds since 1970 of the last whole second before it. None if it is no such moment.
pub(super) fn read(text: &str) -> Option<u64> {
    let (date, rest) = text.split_at_checked(10)?;
    let rest = rest.strip_prefix(['T', 't'])?;
    let (clock, rest) = rest.split_at_checked(8)?;
    let days = match numbers(date, '-', [4, 2, 2])? {
        [year, month, day] if day >= 1 && day <= length(year, month)? => {
            days_before(year) + (1..month).filter_map(|one| length(year, one)).sum::<i64>() + day
                - 1
        }
        _ => return None,
    };
    let seconds = match numbers(clock, ':', [2, 2, 2])? {
        [hour, minute, second] if hour < 24 && minute < 60 && second < 60 => {
            hour * 3_600 + minute * 60 + second
        }
        _ => return None,
    };
    let ahead = offset(without_fraction(rest)?)?;
    u64::try_from(days * DAY_SECONDS + seconds - ahead).ok()
}

fn numbers(text: &str, between: char, widths: [usize; 3]) -> Option<[i64; 3]> {
    let mut parts = text.split(between);
    let mut number = |width| {
        let part = parts.next()?;
        let digits = part.len() == width && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse().ok().filter(|_| digits)
    };
    let read = [number(widths[0])?, number(widths[1])?, number(widths[2])?];
    parts.next().is_none().then_some(read)
}

fn without_fraction(rest: &str) -> Option<&str> {
    let Some(fraction) = rest.strip_prefix('.') else { return Some(rest) };
    let zone = fraction.trim_start_matches(|letter: char| letter.is_ascii_digit());
    (zone.len() < fraction.len()).then_some(zone)
}

/// How many seconds the writer's clock is ahead of the world's.
fn offset(zone: &str) -> Option<i64> {
    let (sign, clock) = match zone.split_at_checked(1)? {
        ("Z" | "z", "") => return Some(0),
        ("+", clock) => (1, clock),
        ("-", clock) => (-1, clock),
        (_, _) => return None,
    };
    match numbers(&format!("{clock}:00"), ':', [2, 2, 2])? {
        [hour, minute, _] if hour < 24 && minute < 60 => Some(sign * (hour * 3_600 + minute * 60)),
        _ => None,
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn length(year: i64, month: i64) -> Option<i64> {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => Some(31),
        4 | 6 | 9 | 11 => Some(30),
        2 => Some(if is_leap(year) { 29 } else { 28 }),
        _ => None,
    }
}

/// Days from 1970 to this year's first.
fn days_before(year: i64) -> i64 {
    let leap_days = |before: i64| before / 4 - before / 100 + before / 400;
    (year - 1970) * 365 + leap_days(year - 1) - leap_days(1969)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments_are_read_as_everybody_reads_them() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1994-11-06T08:49:37Z", 784_111_777),
            ("2000-02-29T00:00:00Z", 951_782_400),
            ("2026-11-15T02:26:47.931Z", 1_794_709_607),
            ("2026-11-15T03:26:47+01:00", 1_794_709_607),
            ("2026-11-14T20:56:47-05:30", 1_794_709_607),
            ("2100-03-01T00:00:00Z", 4_107_542_400),
        ] {
            assert_eq!(read(text), Some(seconds), "{text}");
        }
    }

    #[test]
    fn what_is_no_moment_is_none() {
        for text in [
            "",
            "tomorrow",
            "2026-11-15",
            "2026-11-15T02:26:47",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-11-15T24:00:00Z",
            "2026-11-15T02:26:47.Z",
            "2026-11-15T02:26:47Z and more",
            "1969-12-31T23:59:59Z",
            "20261115T022647Z00000",
            "2026-11-15T02:26:47é",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
