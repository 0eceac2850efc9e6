//! The clock of the emulated provider: real time plus an offset.

use std::time::{SystemTime, UNIX_EPOCH};

use order::model::ids::Timestamp;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProviderClock {
    ahead_seconds: u64,
}

impl ProviderClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that the sandbox asks")]
    pub(crate) fn now(self) -> Timestamp {
        let age = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(age.as_secs()).plus(self.ahead_seconds)
    }

    pub(crate) fn advance(&mut self, seconds: u64) {
        self.ahead_seconds = self.ahead_seconds.saturating_add(seconds);
    }

    pub(crate) const fn ahead_seconds(self) -> u64 {
        self.ahead_seconds
    }
}
