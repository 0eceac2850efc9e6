//! The time, as the operating system tells it.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use order::ids::Timestamp;
use order::ports::Clock;

/// The clock on the wall, and a watch that nobody can put forward or back.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    begun: Instant,
}

impl SystemClock {
    /// The watch starts now.
    #[expect(clippy::disallowed_methods, reason = "this is the clock that everybody else asks")]
    pub fn start() -> Self {
        Self { begun: Instant::now() }
    }
}

#[async_trait]
impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that everybody else asks")]
    fn now(&self) -> Timestamp {
        // A clock from before 1970 is a machine that has not been set yet.
        let age = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(age.as_secs())
    }

    fn uptime(&self) -> u64 {
        self.begun.elapsed().as_secs()
    }

    async fn wait(&self, seconds: u64) {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_clock_is_past_the_day_this_was_written_and_goes_on() {
        let clock = SystemClock::start();
        let before = clock.now();
        clock.wait(1).await;
        assert!(before > Timestamp(1_700_000_000));
        assert!(clock.now() > before);
        assert!(clock.uptime() >= 1);
    }
}
