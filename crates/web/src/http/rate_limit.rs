//! A rate limit for one minute, shared by all callers.
//!
//! It is not per caller, because that would require storing IP addresses.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::time::Instant;

pub const WINDOW_SECONDS: u64 = 60;

/// A fixed window that starts with the first request after the previous window has ended.
///
/// Start and count share one atomic word, so no request sees the start of one window with the
/// count of another, and no lock is needed.
#[derive(Debug)]
pub struct RateLimiter {
    limit: u32,
    created: Instant,
    word: AtomicU64,
}

/// The limiter's decision about one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimitState {
    pub admission: Admission,
    pub remaining: u32,
    /// Until the window ends. Never 0, because a caller that waits no time would be too early.
    pub reset_seconds: NonZeroU64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    Admitted,
    Exhausted,
}

#[derive(Clone, Copy)]
struct WindowCount {
    /// 32 bits of seconds are 136 years in one process.
    start: u32,
    taken: u32,
}

impl RateLimiter {
    pub fn new(limit: u32) -> Self {
        Self { limit, created: Instant::now(), word: AtomicU64::new(0) }
    }

    pub fn take(&self) -> RateLimitState {
        self.take_at(self.created.elapsed().as_secs())
    }

    /// `now` is in seconds since any fixed moment, from a monotonic clock.
    fn take_at(&self, now: u64) -> RateLimitState {
        let now = u32::try_from(now).unwrap_or(u32::MAX);
        let next = |packed| WindowCount::unpack(packed).after_one_more(now, self.limit);
        // Relaxed, because the word protects no other data.
        let taken = self.word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |packed| {
            next(packed).map(WindowCount::pack)
        });
        match taken.map(next) {
            Ok(Some(count)) => RateLimitState {
                admission: Admission::Admitted,
                remaining: self.limit - count.taken,
                reset_seconds: count.seconds_left(now),
            },
            Ok(None) => RateLimitState::exhausted(NonZeroU64::MIN),
            Err(packed) => RateLimitState::exhausted(WindowCount::unpack(packed).seconds_left(now)),
        }
    }
}

impl RateLimitState {
    fn exhausted(reset_seconds: NonZeroU64) -> Self {
        Self { admission: Admission::Exhausted, remaining: 0, reset_seconds }
    }
}

impl WindowCount {
    fn after_one_more(self, now: u32, limit: u32) -> Option<Self> {
        if self.taken == 0 || self.age(now) >= WINDOW_SECONDS {
            return (limit > 0).then_some(Self { start: now, taken: 1 });
        }
        (self.taken < limit).then(|| Self { taken: self.taken + 1, ..self })
    }

    fn seconds_left(self, now: u32) -> NonZeroU64 {
        let left = WINDOW_SECONDS.saturating_sub(self.age(now));
        NonZeroU64::new(left).unwrap_or(NonZeroU64::MIN)
    }

    /// A request that read the clock before another request started the window still belongs
    /// to it.
    fn age(self, now: u32) -> u64 {
        now.saturating_sub(self.start).into()
    }

    fn pack(self) -> u64 {
        (u64::from(self.start) << 32) | u64::from(self.taken)
    }

    fn unpack(packed: u64) -> Self {
        let [a, b, c, d, e, f, g, h] = packed.to_be_bytes();
        Self { start: u32::from_be_bytes([a, b, c, d]), taken: u32::from_be_bytes([e, f, g, h]) }
    }
}

#[cfg(test)]
mod tests;
