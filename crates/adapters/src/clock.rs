//! The time, as the operating system tells it.

use std::num::NonZero;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use order::model::ids::Timestamp;
use order::ports::{Clock, Moment};

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

    fn monotonic(&self) -> Duration {
        self.begun.elapsed()
    }

    async fn moment(&self, milliseconds: u64) -> Moment {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
        Moment::Waited
    }
}

/// A clock that runs faster than the wall's, so that a rehearsal need not wait for
/// hours. It begins at the right time and leaves it behind.
#[derive(Clone, Copy, Debug)]
pub struct HurriedClock {
    wall: SystemClock,
    opened: Timestamp,
    speed: NonZero<u32>,
}

impl HurriedClock {
    /// In every second of the wall's, so many pass here.
    pub fn start(speed: NonZero<u32>) -> Self {
        let wall = SystemClock::start();
        Self { wall, opened: wall.now(), speed }
    }

    fn passed(&self) -> Duration {
        self.wall.begun.elapsed().saturating_mul(self.speed.get())
    }
}

#[async_trait]
impl Clock for HurriedClock {
    fn now(&self) -> Timestamp {
        self.opened.plus(self.uptime())
    }

    fn uptime(&self) -> u64 {
        self.passed().as_secs()
    }

    async fn wait(&self, seconds: u64) {
        tokio::time::sleep(Duration::from_secs(seconds) / self.speed.get()).await;
    }

    fn monotonic(&self) -> Duration {
        self.wall.monotonic()
    }

    /// As long as the wall's: the chain that is looked at does not hurry.
    async fn moment(&self, milliseconds: u64) -> Moment {
        self.wall.moment(milliseconds).await
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

    #[tokio::test]
    async fn an_hour_of_a_hurried_clock_is_soon_over_and_is_an_hour_by_all_that_it_says() {
        let wall = SystemClock::start();
        let clock = HurriedClock::start(NonZero::new(10_000).unwrap());
        let before = clock.now();
        assert!(before.since(wall.now()).unwrap_or_default() < 60 * 60);
        clock.wait(60 * 60).await;
        assert!(clock.now().since(before).is_some_and(|passed| passed >= 60 * 60));
        assert!(clock.uptime() >= 60 * 60);
        assert!(wall.uptime() < 60);
    }
}
