//! A token bucket: a burst of calls, then a constant rate.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use order::ports::Clock;

/// How many calls a bucket allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BucketRate {
    /// Calls allowed at once when the bucket is full.
    pub(crate) burst: u32,
    pub(crate) per_second: u32,
}

/// Limits requests that cost the caller nothing and us a call to another system.
pub(crate) struct TokenBucket {
    rate: BucketRate,
    clock: Arc<dyn Clock>,
    /// The time at which the bucket was or will be full, if nothing is taken.
    full_at: Mutex<Duration>,
}

impl TokenBucket {
    pub(crate) fn new(rate: BucketRate, clock: Arc<dyn Clock>) -> Self {
        Self { rate, clock, full_at: Mutex::new(Duration::ZERO) }
    }

    /// Takes one token, if there is one.
    pub(crate) fn take(&self) -> bool {
        let now = self.clock.monotonic();
        let token = Duration::from_secs(1) / self.rate.per_second;
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        let next = (*full_at).max(now) + token;
        if next > now + token * self.rate.burst {
            return false;
        }
        *full_at = next;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use order::testing::manual_clock::ManualClock;

    #[test]
    fn a_full_bucket_allows_a_burst_and_then_the_rate() {
        let clock = Arc::new(ManualClock::default());
        let bucket = TokenBucket::new(BucketRate { burst: 5, per_second: 2 }, clock.clone());
        let taken = || (0..10).filter(|_| bucket.take()).count();
        assert_eq!(taken(), 5);
        clock.advance(1);
        assert_eq!(taken(), 2);
        clock.advance(999);
        assert_eq!(taken(), 5, "it holds no more than the burst");
    }
}
