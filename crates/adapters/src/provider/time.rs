//! Times as providers write them, with or without a time zone.

use order::model::ids::Timestamp;

/// A time, as exact as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProviderTime {
    Exact(Timestamp),
    /// No zone: up to half a day off.
    Local(Timestamp),
}

impl ProviderTime {
    /// Parses `2026-11-15T21:30:00.000Z` and `2026-11-15 21:30:00`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let without_zone = || format!("{text}Z").parse().ok().map(Self::Local);
        text.parse().ok().map(Self::Exact).or_else(without_zone)
    }

    /// None if no zone was given.
    pub(super) const fn exact(self) -> Option<Timestamp> {
        match self {
            Self::Exact(at) => Some(at),
            Self::Local(_) => None,
        }
    }

    /// As it was written, as if without a zone it were UTC.
    pub(super) const fn written(self) -> Timestamp {
        match self {
            Self::Exact(at) | Self::Local(at) => at,
        }
    }

    /// The latest time that it can mean.
    pub(super) const fn latest(self) -> Timestamp {
        // The offset of the westernmost zone.
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
    fn a_time_without_a_zone_is_local() {
        let at = Timestamp(1_755_190_093);
        let exact = [
            "2025-08-14T16:48:13.000000Z",
            "2025-08-14T16:48:13+00:00",
            "2025-08-14 18:48:13+02:00",
        ];
        for text in exact {
            assert_eq!(ProviderTime::parse(text), Some(ProviderTime::Exact(at)), "{text}");
        }
        let local = ProviderTime::parse("2025-08-14 16:48:13").unwrap();
        assert_eq!(local, ProviderTime::Local(at));
        assert_eq!(local.latest(), at.plus(43_200));
    }

    #[test]
    fn text_that_is_not_a_time_is_rejected() {
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
            assert_eq!(ProviderTime::parse(text), None, "{text}");
        }
    }
}
