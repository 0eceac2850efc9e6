//! A moment as RFC 3339 writes it, in seconds since 1970.

/// Seconds since 1970 of the last whole second before it. None if it is no such moment.
pub(crate) fn read(text: &str) -> Option<u64> {
    let at: jiff::Timestamp = text.parse().ok()?;
    u64::try_from(at.as_second()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments_are_read() {
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
    fn other_text_is_no_moment() {
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
            "2026-11-15T02:26:47é",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
