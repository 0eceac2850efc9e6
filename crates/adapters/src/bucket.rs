//! A token bucket: so many calls at once, and then so many a second.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use order::ports::Clock;

/// How many calls a bucket allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    /// As many calls at once after a quiet time.
    pub(crate) burst: u32,
    pub(crate) per_second: u32,
}

/// Shared by all callers whose questions cost us a call outside and them nothing.
pub(crate) struct Bucket {
    rate: Rate,
    clock: Arc<dyn Clock>,
    /// The time at which the bucket was or will be full, if nothing is taken.
    full_at: Mutex<Duration>,
}

impl Bucket {
    pub(crate) fn new(rate: Rate, clock: Arc<dyn Clock>) -> Self {
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
    use crate::stopped_clock::StoppedClock;

    #[test]
    fn a_burst_is_allowed_and_then_so_many_a_second() {
        let clock = Arc::new(StoppedClock::default());
        let bucket = Bucket::new(Rate { burst: 5, per_second: 2 }, clock.clone());
        let taken = || (0..10).filter(|_| bucket.take()).count();
        assert_eq!(taken(), 5);
        clock.pass(1);
        assert_eq!(taken(), 2);
        clock.pass(999);
        assert_eq!(taken(), 5, "a long rest fills it once");
    }
}
