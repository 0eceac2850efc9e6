//! The system clock.

use std::num::NonZero;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use order::model::ids::Timestamp;
use order::ports::{Clock, Moment};

/// Wall-clock time and monotonic time of the operating system.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    started: Instant,
}

impl SystemClock {
    /// Monotonic time starts now.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the system clock")]
    pub fn start() -> Self {
        Self { started: Instant::now() }
    }
}

#[async_trait]
impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the system clock")]
    fn now(&self) -> Timestamp {
        // A time before 1970 means that the clock was never set.
        let age = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(age.as_secs())
    }

    fn uptime(&self) -> u64 {
        self.started.elapsed().as_secs()
    }

    async fn wait(&self, seconds: u64) {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }

    fn monotonic(&self) -> Duration {
        self.started.elapsed()
    }

    async fn moment(&self, milliseconds: u64) -> Moment {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
        Moment::Waited
    }
}

/// A clock that runs faster than real time, for rehearsals. It starts at the current time.
#[derive(Clone, Copy, Debug)]
pub struct AcceleratedClock {
    system: SystemClock,
    started_at: Timestamp,
    speed: NonZero<u32>,
}

impl AcceleratedClock {
    /// `speed` seconds pass here in one second of real time.
    pub fn start(speed: NonZero<u32>) -> Self {
        let system = SystemClock::start();
        Self { system, started_at: system.now(), speed }
    }

    fn passed(&self) -> Duration {
        self.system.started.elapsed().saturating_mul(self.speed.get())
    }
}

#[async_trait]
impl Clock for AcceleratedClock {
    fn now(&self) -> Timestamp {
        self.started_at.plus(self.uptime())
    }

    fn uptime(&self) -> u64 {
        self.passed().as_secs()
    }

    async fn wait(&self, seconds: u64) {
        tokio::time::sleep(Duration::from_secs(seconds) / self.speed.get()).await;
    }

    fn monotonic(&self) -> Duration {
        self.system.monotonic()
    }

    /// In real time: the chain does not run faster.
    async fn moment(&self, milliseconds: u64) -> Moment {
        self.system.moment(milliseconds).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_system_clock_shows_the_current_time_and_advances() {
        let clock = SystemClock::start();
        let before = clock.now();
        clock.wait(1).await;
        assert!(before > Timestamp(1_700_000_000));
        assert!(clock.now() > before);
        assert!(clock.uptime() >= 1);
    }

    #[tokio::test]
    async fn an_accelerated_clock_passes_an_hour_in_less_than_a_minute() {
        let system = SystemClock::start();
        let clock = AcceleratedClock::start(NonZero::new(10_000).unwrap());
        let before = clock.now();
        assert!(before.since(system.now()).unwrap_or_default() < 60 * 60);
        clock.wait(60 * 60).await;
        assert!(clock.now().since(before).is_some_and(|passed| passed >= 60 * 60));
        assert!(clock.uptime() >= 60 * 60);
        assert!(system.uptime() < 60);
    }
}
