//! The one counter that all callers of the discovery routes share.

use std::sync::atomic::{AtomicU64, Ordering};

use http::HeaderValue;
use tokio::time::Instant;

/// What the contract allows in one window.
pub const REQUESTS: u32 = 600;
const WINDOW_SECONDS: u64 = 60;

/// The lower bits of the counter hold how many requests the window has seen,
/// the upper ones when it began.
const COUNT_BITS: u32 = 32;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;

/// A fixed window: no lock, and one exchange for each request.
pub struct Quota {
    requests: u32,
    policy: HeaderValue,
    opened: Instant,
    window: AtomicU64,
}

/// What the counter says to one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) entry: Entry,
    pub(crate) remaining: u64,
    /// Never 0, as a caller who waits no time at all would come too early.
    pub(crate) reset_seconds: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Admitted,
    Exhausted,
}

impl Quota {
    pub fn new(requests: u32) -> Self {
        let policy = format!("\"public-discovery\";q={requests};w={WINDOW_SECONDS}");
        Self {
            requests,
            policy: HeaderValue::try_from(policy).expect("digits and quotes are visible ASCII"),
            opened: Instant::now(),
            window: AtomicU64::new(0),
        }
    }

    pub(crate) fn policy(&self) -> HeaderValue {
        self.policy.clone()
    }

    pub(crate) fn take(&self) -> Ticket {
        self.take_at(self.opened.elapsed().as_secs())
    }

    fn take_at(&self, now: u64) -> Ticket {
        let requests = u64::from(self.requests);
        let mut seen = self.window.load(Ordering::Relaxed);
        loop {
            let (begun, count) = (seen >> COUNT_BITS, seen & COUNT_MASK);
            let over = count == 0 || now.saturating_sub(begun) >= WINDOW_SECONDS;
            let (begun, count) = if over { (now, 0) } else { (begun, count) };
            // The clock of another thread may be a second ahead of ours.
            let reset_seconds = (begun + WINDOW_SECONDS).saturating_sub(now).max(1);
            if count >= requests {
                return Ticket { entry: Entry::Exhausted, remaining: 0, reset_seconds };
            }
            let next = (begun << COUNT_BITS) | (count + 1);
            let swap =
                self.window.compare_exchange_weak(seen, next, Ordering::Relaxed, Ordering::Relaxed);
            match swap {
                Ok(_) => {
                    let remaining = requests - count - 1;
                    return Ticket { entry: Entry::Admitted, remaining, reset_seconds };
                }
                Err(other) => seen = other,
            }
        }
    }
}

impl Ticket {
    pub(crate) fn header(&self) -> HeaderValue {
        let Self { remaining, reset_seconds, .. } = self;
        let state = format!("\"public-discovery\";r={remaining};t={reset_seconds}");
        HeaderValue::try_from(state).expect("digits and quotes are visible ASCII")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn six_hundred_are_admitted_and_the_next_waits_for_the_window() {
        let quota = Quota::new(REQUESTS);
        for taken in 1..=600 {
            let ticket = quota.take_at(7);
            assert_eq!(ticket.entry, Entry::Admitted);
            assert_eq!((ticket.remaining, ticket.reset_seconds), (600 - taken, 60));
        }
        let refused = quota.take_at(20);
        let expected = Ticket { entry: Entry::Exhausted, remaining: 0, reset_seconds: 47 };
        assert_eq!(refused, expected);
        assert_eq!(quota.take_at(66).entry, Entry::Exhausted);
        let next = quota.take_at(67);
        assert_eq!((next.entry, next.remaining), (Entry::Admitted, 599));
    }

    #[tokio::test]
    async fn the_headers_are_written_as_the_contract_writes_them() {
        let quota = Quota::new(REQUESTS);
        assert_eq!(quota.policy(), "\"public-discovery\";q=600;w=60");
        assert_eq!(quota.take_at(3).header(), "\"public-discovery\";r=599;t=60");
        assert_eq!(quota.take_at(40).header(), "\"public-discovery\";r=598;t=23");
    }

    #[tokio::test]
    async fn eight_threads_share_one_window_exactly() {
        let quota = Quota::new(1_000);
        let admitted: usize = std::thread::scope(|scope| {
            let count = || {
                let tickets = (0..500).map(|_| quota.take_at(1));
                tickets.filter(|ticket| ticket.entry == Entry::Admitted).count()
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(count)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(admitted, 1_000);
    }
}
