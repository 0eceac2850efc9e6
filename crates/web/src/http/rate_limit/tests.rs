//! The rate limiter at given times.

use std::thread;

use super::*;

const LIMIT: u32 = 60;

fn limiter() -> RateLimiter {
    RateLimiter::new(LIMIT)
}

fn take(limiter: &RateLimiter, now: u64) -> Result<u32, u64> {
    let RateLimitState { admission, remaining, reset_seconds } = limiter.take_at(now);
    match admission {
        Admission::Admitted => Ok(remaining),
        Admission::Exhausted => Err(reset_seconds.get()),
    }
}

fn take_all(limiter: &RateLimiter, now: u64) {
    for remaining in (0..LIMIT).rev() {
        assert_eq!(take(limiter, now), Ok(remaining));
    }
}

#[tokio::test]
async fn sixty_requests_are_admitted_per_window() {
    let limiter = limiter();
    take_all(&limiter, 0);
    for now in 0..WINDOW_SECONDS {
        assert_eq!(take(&limiter, now), Err(WINDOW_SECONDS - now));
    }
    take_all(&limiter, 60);
    assert_eq!(take(&limiter, 60), Err(60));
}

#[tokio::test]
async fn a_request_after_the_reset_time_is_admitted() {
    let limiter = limiter();
    take_all(&limiter, 7);
    let told = take(&limiter, 30).unwrap_err();
    assert_eq!(take(&limiter, 30 + told), Ok(LIMIT - 1));
}

#[tokio::test]
async fn a_window_starts_with_its_first_request() {
    let limiter = limiter();
    let turn = limiter.take_at(1_000);
    assert_eq!((turn.remaining, turn.reset_seconds.get()), (LIMIT - 1, 60));
    assert_eq!(limiter.take_at(1_059).reset_seconds.get(), 1);
    assert_eq!(limiter.take_at(1_060).remaining, LIMIT - 1);
}

#[tokio::test]
async fn a_rejected_request_neither_counts_nor_moves_the_window() {
    let limiter = limiter();
    take_all(&limiter, 100);
    for _ in 0..1_000 {
        assert_eq!(take(&limiter, 159), Err(1));
    }
    take_all(&limiter, 160);
}

#[tokio::test]
async fn a_request_that_read_the_clock_too_early_belongs_to_the_window() {
    let limiter = limiter();
    take_all(&limiter, 100);
    assert_eq!(take(&limiter, 99), Err(60));
}

#[tokio::test]
async fn the_largest_representable_second_is_handled() {
    let limiter = limiter();
    take_all(&limiter, u64::from(u32::MAX) + 1);
    assert_eq!(take(&limiter, u64::MAX), Err(60));
}

#[tokio::test]
async fn a_limit_of_zero_admits_nothing() {
    assert_eq!(RateLimiter::new(0).take_at(5).admission, Admission::Exhausted);
}

#[test]
fn start_and_count_are_packed_separately() {
    for (start, taken) in [(0, 0), (1, 60), (u32::MAX, 0), (0, u32::MAX), (u32::MAX, u32::MAX)] {
        let count = WindowCount::unpack(WindowCount { start, taken }.pack());
        assert_eq!((count.start, count.taken), (start, taken));
    }
}

#[tokio::test]
async fn many_threads_share_one_limit() {
    let limiter = limiter();
    let taken: usize = thread::scope(|scope| {
        let hands: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| (0..50).filter(|_| take(&limiter, 5).is_ok()).count()))
            .collect();
        hands.into_iter().map(|hand| hand.join().unwrap()).sum()
    });
    assert_eq!(taken, 60);
}
