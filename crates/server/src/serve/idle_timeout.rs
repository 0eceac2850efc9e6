//! When a connection is closed: counts its requests, and measures time in ticks.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::Version;
use hyper::rt::{Sleep, Timer};

use super::ticker::TICK;

/// Between 5 and 7.5 seconds, as a request rarely begins exactly at a tick. A request head fits
/// in one packet or a few; a client that needs longer occupies a connection on purpose.
// mutant: slow-head-is-kept
const HEAD_TICKS: u32 = 3;

/// The timeout of a request head, and on HTTP/1 also of a connection that is kept alive.
pub(super) const HEAD_TIMEOUT: Duration = TICK.saturating_mul(HEAD_TICKS);

/// Half a minute without a request, on a connection that had one: for HTTP/2 clients and slow
/// readers.
const IDLE_TICKS: u32 = 13;

/// Two minutes. Then an HTTP/2 client is told to open another connection, which frees the answers
/// that it has not read: new requests would keep this one from being idle.
const HTTP2_TICKS: u32 = 48;

/// The requests of one connection, shared with their handlers.
pub(super) struct ConnectionActivity {
    opened: Instant,
    ticks: AtomicU32,
    is_http2: AtomicBool,
    begun: AtomicU64,
    ended: AtomicU64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionState {
    Active,
    /// Without a request for too long.
    Idle,
    /// Its client can do without it, once the requests in progress are answered.
    Old,
}

impl ConnectionActivity {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            opened: tokio::time::Instant::now().into_std(),
            ticks: AtomicU32::new(0),
            is_http2: AtomicBool::new(false),
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
        })
    }

    pub(super) fn begin_request(self: &Arc<Self>, version: Version) -> RequestGuard {
        if version == Version::HTTP_2 {
            self.is_http2.store(true, Ordering::Relaxed);
        }
        self.begun.fetch_add(1, Ordering::Relaxed);
        RequestGuard(self.clone())
    }

    /// The time in whole ticks. It does not change in between.
    fn now(&self) -> Instant {
        self.opened + TICK * self.ticks.load(Ordering::Relaxed)
    }
}

/// One request in progress. It is dropped when the request is answered or aborted.
pub(super) struct RequestGuard(Arc<ConnectionActivity>);

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::Relaxed);
    }
}

/// Checks the activity of a connection at each tick.
pub(super) struct IdleTimeout {
    activity: Arc<ConnectionActivity>,
    seen: u64,
    idle_ticks: u32,
}

impl IdleTimeout {
    pub(super) fn new(activity: Arc<ConnectionActivity>) -> Self {
        Self { activity, seen: 0, idle_ticks: 0 }
    }

    /// The timeout is short before the first request: it also covers the bytes that distinguish
    /// HTTP/2 from HTTP/1, for which hyper has no timer.
    pub(super) fn tick(&mut self) -> ConnectionState {
        let ticks = self.activity.ticks.fetch_add(1, Ordering::Relaxed);
        let begun = self.activity.begun.load(Ordering::Relaxed);
        let idle = begun == self.seen && self.activity.ended.load(Ordering::Relaxed) == begun;
        self.idle_ticks = if idle { self.idle_ticks + 1 } else { 0 };
        self.seen = begun;
        let ticks_max = if begun == 0 { HEAD_TICKS } else { IDLE_TICKS };
        if self.idle_ticks >= ticks_max {
            ConnectionState::Idle
        // mutant: unread-answers-kept
        } else if ticks >= HTTP2_TICKS && self.activity.is_http2.load(Ordering::Relaxed) {
            ConnectionState::Old
        } else {
            ConnectionState::Active
        }
    }
}

/// hyper's timer for request heads. It wakes no task: the ticker does.
pub(super) struct TickTimer(pub(super) Arc<ConnectionActivity>);

impl Timer for TickTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(self.now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(SleepUntil { activity: self.0.clone(), deadline })
    }

    fn now(&self) -> Instant {
        self.0.now()
    }
}

struct SleepUntil {
    activity: Arc<ConnectionActivity>,
    deadline: Instant,
}

impl Future for SleepUntil {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.activity.now() < self.deadline { Poll::Pending } else { Poll::Ready(()) }
    }
}

impl Sleep for SleepUntil {}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks_until_timeout(timeout: &mut IdleTimeout) -> Option<u32> {
        (1..100).find(|_| timeout.tick() != ConnectionState::Active)
    }

    #[test]
    fn the_timeout_is_short_before_the_first_request_and_longer_after_it() {
        let activity = ConnectionActivity::new();
        let mut timeout = IdleTimeout::new(activity.clone());
        assert_eq!(ticks_until_timeout(&mut timeout), Some(HEAD_TICKS));
        let mut timeout = IdleTimeout::new(activity.clone());
        drop(activity.begin_request(Version::HTTP_11));
        assert_eq!(ticks_until_timeout(&mut timeout), Some(1 + IDLE_TICKS));
    }

    #[test]
    fn a_connection_with_a_request_in_progress_does_not_time_out() {
        let activity = ConnectionActivity::new();
        let mut timeout = IdleTimeout::new(activity.clone());
        let request = activity.begin_request(Version::HTTP_11);
        assert_eq!(ticks_until_timeout(&mut timeout), None);
        drop(request);
        assert_eq!(ticks_until_timeout(&mut timeout), Some(IDLE_TICKS));
    }

    #[test]
    fn an_http2_connection_is_replaced_also_if_it_is_never_idle() {
        let activity = ConnectionActivity::new();
        let mut timeout = IdleTimeout::new(activity.clone());
        for tick in 0..=HTTP2_TICKS {
            let expected =
                if tick < HTTP2_TICKS { ConnectionState::Active } else { ConnectionState::Old };
            drop(activity.begin_request(Version::HTTP_2));
            assert_eq!(timeout.tick(), expected, "{tick}");
        }
    }
}
