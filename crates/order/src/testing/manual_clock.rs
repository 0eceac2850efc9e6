//! A clock for tests: time passes only when a test advances it or something waits.

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;

use super::contract::samples;
use crate::model::ids::Timestamp;
use crate::ports::Clock;

pub struct ManualClock {
    start: Timestamp,
    seconds: AtomicU64,
}

impl ManualClock {
    pub const fn starting_at(start: Timestamp) -> Self {
        Self { start, seconds: AtomicU64::new(0) }
    }

    pub fn advance(&self, seconds: u64) {
        self.seconds.fetch_add(seconds, Ordering::SeqCst);
    }
}

/// Starts at the time of the samples.
impl Default for ManualClock {
    fn default() -> Self {
        Self::starting_at(samples::NOW)
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.start.plus(self.uptime())
    }

    fn uptime(&self) -> u64 {
        self.seconds.load(Ordering::SeqCst)
    }

    /// Returns at once; the time has passed.
    async fn wait(&self, seconds: u64) {
        self.advance(seconds);
    }
}
