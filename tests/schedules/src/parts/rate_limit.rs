//! The limits without a lock and with one: no more calls are admitted than the limit says.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use order::testing::manual_clock::ManualClock;
use shuttle::thread;

use crate::explore::saw;
use crate::sources::rate_limit::{Admission, RateLimiter, WINDOW_SECONDS};
use crate::sources::token_bucket::{BucketRate, TokenBucket};
use crate::stand_ins::random;

const LIMIT: u32 = 3;

pub const KINDS: &[&str] = &["calls admitted", "calls refused", "windows that began"];

/// Three threads at the end of one window and the start of the next.
pub fn run() {
    let limiter = Arc::new(RateLimiter::new(LIMIT));
    let clock = Arc::new(ManualClock::default());
    let bucket = Arc::new(TokenBucket::new(BucketRate { burst: LIMIT, per_second: 1 }, clock));
    let admitted = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    let taken = Arc::new(AtomicU32::new(0));
    // The first window begins at zero.
    assert_eq!(limiter.take_at(0).admission, Admission::Admitted);
    let callers: Vec<_> = (0..3)
        .map(|_| {
            let (limiter, bucket) = (limiter.clone(), bucket.clone());
            let (admitted, taken) = (admitted.clone(), taken.clone());
            thread::spawn(move || {
                for window in 0..2_u64 {
                    // A thread reads the clock, and another may be faster.
                    let now = WINDOW_SECONDS * window + random(WINDOW_SECONDS / 2);
                    let state = limiter.take_at(now);
                    assert!(state.remaining < LIMIT && state.reset_seconds.get() <= WINDOW_SECONDS);
                    if state.admission == Admission::Admitted {
                        admitted[usize::from(window == 1)].fetch_add(1, Ordering::Relaxed);
                    }
                    saw(KINDS[usize::from(state.admission == Admission::Exhausted)]);
                    taken.fetch_add(u32::from(bucket.take()), Ordering::Relaxed);
                }
            })
        })
        .collect();
    for caller in callers {
        caller.join().expect("it does not panic");
    }
    let [first, second] = [0, 1].map(|window: usize| admitted[window].load(Ordering::Relaxed));
    // A thread that was late counts in the second window.
    assert!(first + second < 2 * LIMIT, "{first} and {second} of twice {LIMIT}, with one before");
    assert!(second <= LIMIT, "{second} of {LIMIT}");
    if second > 0 {
        saw(KINDS[2]);
    }
    assert_eq!(taken.load(Ordering::Relaxed), LIMIT, "the bucket held {LIMIT}");
}
