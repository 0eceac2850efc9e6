//! Formats times for the provider interfaces and the postmark.

use order::model::ids::Timestamp;

/// `2026-11-15T21:04:05.000000Z`, the format of thanks.io.
pub(crate) fn instant(at: Timestamp) -> String {
    written(at, "%Y-%m-%dT%H:%M:%S.000000Z")
}

/// `2026-11-15`.
pub(crate) fn day(at: Timestamp) -> String {
    written(at, "%Y-%m-%d")
}

/// `15 NOV 2026`, the format of the postmark.
pub(crate) fn postmark(at: Timestamp) -> String {
    written(at, "%-d %b %Y").to_uppercase()
}

fn written(at: Timestamp, format: &str) -> String {
    jiff::Timestamp::from(at).strftime(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_formatted_as_calendar_dates() {
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
