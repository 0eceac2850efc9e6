//! A clock for tests, on which time passes only when a test says so or waits for it.

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use order::model::ids::Timestamp;
use order::ports::Clock;
use order::testing::contract::samples;

#[derive(Default)]
pub(crate) struct StoppedClock(AtomicU64);

impl StoppedClock {
    pub(crate) fn pass(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::Relaxed);
    }
}

#[async_trait]
impl Clock for StoppedClock {
    fn now(&self) -> Timestamp {
        samples::NOW.plus(self.uptime())
    }

    fn uptime(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    async fn wait(&self, seconds: u64) {
        self.pass(seconds);
    }
}
