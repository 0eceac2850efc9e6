//! How many registrations the whole process takes in a minute.
//!
//! For all callers together and not for each, as that would mean to keep their
//! addresses.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

/// An agent needs one registration for life, so this is many agents.
pub const REGISTRATIONS: u32 = 60;
pub const WINDOW_SECONDS: u64 = 60;

/// A window that opens with the first request after the last one has closed.
///
/// Its start and its count share one word, so no request can see the one of a
/// new window with the other of an old one, and nobody waits for a lock.
#[derive(Debug)]
pub struct Allowance {
    window: AtomicU64,
}

#[derive(Clone, Copy)]
struct Window {
    /// 32 bits of seconds are 136 years in one process.
    start: u32,
    taken: u32,
}

impl Allowance {
    pub const fn new() -> Self {
        Self { window: AtomicU64::new(0) }
    }

    /// Takes one registration, or says how many seconds to wait for the next.
    ///
    /// `now` is in seconds since any fixed moment, from a clock that is never
    /// set back.
    pub fn take(&self, now: u64) -> Result<(), NonZeroU64> {
        let now = u32::try_from(now).unwrap_or(u32::MAX);
        // Relaxed, as the word guards nothing but itself.
        self.window
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |packed| {
                Window::unpack(packed).after_one_more(now).map(Window::pack)
            })
            .map(|_| ())
            .map_err(|packed| Window::unpack(packed).wait(now))
    }
}

impl Default for Allowance {
    fn default() -> Self {
        Self::new()
    }
}

impl Window {
    fn after_one_more(self, now: u32) -> Option<Self> {
        if self.age(now) >= WINDOW_SECONDS {
            return Some(Self { start: now, taken: 1 });
        }
        (self.taken < REGISTRATIONS).then(|| Self { taken: self.taken + 1, ..self })
    }

    /// At least one second: a caller told to wait none would be back at once.
    fn wait(self, now: u32) -> NonZeroU64 {
        let left = WINDOW_SECONDS.saturating_sub(self.age(now));
        NonZeroU64::new(left).unwrap_or(NonZeroU64::MIN)
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
