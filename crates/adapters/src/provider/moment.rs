//! Moments as providers write them: a day and a time, with or without a zone.

use order::model::ids::Timestamp;

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
        let without_zone = || format!("{text}Z").parse().ok().map(Self::Local);
        text.parse().ok().map(Self::Exact).or_else(without_zone)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_that_is_not_told_is_no_zone_at_all() {
        let at = Timestamp(1_755_190_093);
        let exact = [
            "2025-08-14T16:48:13.000000Z",
            "2025-08-14T16:48:13+00:00",
            "2025-08-14 18:48:13+02:00",
        ];
        for text in exact {
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
            "+025-08-14 16:48:13",
            "1969-08-14 16:48:13",
            "äöüäöüäöü",
        ] {
            assert_eq!(Moment::parse(text), None, "{text}");
        }
    }
}
