//! So many in a minute, for all callers together.
//!
//! Not for each caller, as that would mean to keep their addresses.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::time::Instant;

pub const WINDOW_SECONDS: u64 = 60;

/// A minute that opens with the first request after the last one has closed.
///
/// Its start and its count share one word, so no request can see the one of a
/// new window with the other of an old one, and nobody waits for a lock.
#[derive(Debug)]
pub struct Window {
    most: u32,
    opened: Instant,
    word: AtomicU64,
}

/// What the window says to one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    pub entry: Entry,
    pub remaining: u32,
    /// Until the window ends. Never 0, as a caller who waits no time at all
    /// would come too early.
    pub reset_seconds: NonZeroU64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    Admitted,
    Exhausted,
}

#[derive(Clone, Copy)]
struct Count {
    /// 32 bits of seconds are 136 years in one process.
    start: u32,
    taken: u32,
}

impl Window {
    pub fn new(most: u32) -> Self {
        Self { most, opened: Instant::now(), word: AtomicU64::new(0) }
    }

    pub fn take(&self) -> Turn {
        self.take_at(self.opened.elapsed().as_secs())
    }

    /// `now` is in seconds since any fixed moment, from a clock that is never
    /// set back.
    fn take_at(&self, now: u64) -> Turn {
        let now = u32::try_from(now).unwrap_or(u32::MAX);
        let next = |packed| Count::unpack(packed).after_one_more(now, self.most);
        // Relaxed, as the word guards nothing but itself.
        let taken = self.word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |packed| {
            next(packed).map(Count::pack)
        });
        match taken.map(next) {
            Ok(Some(count)) => Turn {
                entry: Entry::Admitted,
                remaining: self.most - count.taken,
                reset_seconds: count.rest(now),
            },
            Ok(None) => Turn::exhausted(NonZeroU64::MIN),
            Err(packed) => Turn::exhausted(Count::unpack(packed).rest(now)),
        }
    }
}

impl Turn {
    fn exhausted(reset_seconds: NonZeroU64) -> Self {
        Self { entry: Entry::Exhausted, remaining: 0, reset_seconds }
    }
}

impl Count {
    fn after_one_more(self, now: u32, most: u32) -> Option<Self> {
        if self.taken == 0 || self.age(now) >= WINDOW_SECONDS {
            return (most > 0).then_some(Self { start: now, taken: 1 });
        }
        (self.taken < most).then(|| Self { taken: self.taken + 1, ..self })
    }

    fn rest(self, now: u32) -> NonZeroU64 {
        let rest = WINDOW_SECONDS.saturating_sub(self.age(now));
        NonZeroU64::new(rest).unwrap_or(NonZeroU64::MIN)
    }

    /// A request that read the clock before another one opened the window
    /// belongs to it all the same.
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
