//! What happens on one connection: counted, and looked at when the bell rings.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hyper::rt::{Sleep, Timer};

use super::bell::BEAT;

/// Between 5 and 7.5 seconds, as nothing begins just when the bell rings. A head fits in
/// one packet or a few; who needs longer than this is holding a place on purpose.
const HEAD_BEATS: u32 = 3;

/// How long a head may take, and on HTTP/1 also how long a connection that is kept alive
/// may be unused.
pub(super) const HEAD_TIME: Duration = BEAT.saturating_mul(HEAD_BEATS);

/// Half a minute in which nothing begins on a connection that has been useful, which is
/// what an HTTP/2 client or a slow reader gets.
const IDLE_BEATS: u32 = 13;

/// Shared by a connection and its requests, and by no other connection.
pub(super) struct Pulse {
    opened: Instant,
    beats: AtomicU32,
    begun: AtomicU64,
    ended: AtomicU64,
}

/// Whether anything comes of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    Alive,
    Silent,
}

impl Pulse {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            opened: tokio::time::Instant::now().into_std(),
            beats: AtomicU32::new(0),
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
        })
    }

    pub(super) fn begin(self: &Arc<Self>) -> UnderWay {
        self.begun.fetch_add(1, Ordering::Relaxed);
        UnderWay(self.clone())
    }

    /// The time by the bell. It stands still in between.
    fn now(&self) -> Instant {
        self.opened + BEAT * self.beats.load(Ordering::Relaxed)
    }
}

/// One request under way, until dropped: answered, or given up by its caller.
pub(super) struct UnderWay(Arc<Pulse>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::Relaxed);
    }
}

/// Who feels the pulse whenever the bell rings.
pub(super) struct Watcher {
    pulse: Arc<Pulse>,
    seen: u64,
    quiet: u32,
}

impl Watcher {
    pub(super) fn new(pulse: Arc<Pulse>) -> Self {
        Self { pulse, seen: 0, quiet: 0 }
    }

    /// The bell has rung. Patience is short before the first request: it also covers the
    /// bytes by which HTTP/2 is told from HTTP/1, for which the parser has no timer.
    pub(super) fn beat(&mut self) -> Life {
        self.pulse.beats.fetch_add(1, Ordering::Relaxed);
        let begun = self.pulse.begun.load(Ordering::Relaxed);
        let at_rest = begun == self.seen && self.pulse.ended.load(Ordering::Relaxed) == begun;
        self.quiet = if at_rest { self.quiet + 1 } else { 0 };
        self.seen = begun;
        let patience = if begun == 0 { HEAD_BEATS } else { IDLE_BEATS };
        if self.quiet < patience { Life::Alive } else { Life::Silent }
    }
}

/// The parser's clock for heads. It wakes nobody: the bell does.
pub(super) struct ByTheBell(pub(super) Arc<Pulse>);

impl Timer for ByTheBell {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(self.now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Until { pulse: self.0.clone(), deadline })
    }

    fn now(&self) -> Instant {
        self.0.now()
    }
}

struct Until {
    pulse: Arc<Pulse>,
    deadline: Instant,
}

impl Future for Until {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.pulse.now() < self.deadline { Poll::Pending } else { Poll::Ready(()) }
    }
}

impl Sleep for Until {}

#[cfg(test)]
mod tests {
    use super::*;

    /// At which beat nothing is expected any more.
    fn beats_until_silent(watcher: &mut Watcher) -> Option<u32> {
        (1..100).find(|_| watcher.beat() == Life::Silent)
    }

    #[test]
    fn patience_is_short_before_the_first_request_and_longer_after_it() {
        let pulse = Pulse::new();
        assert_eq!(beats_until_silent(&mut Watcher::new(pulse.clone())), Some(HEAD_BEATS));
        let mut watcher = Watcher::new(pulse.clone());
        drop(pulse.begin());
        assert_eq!(beats_until_silent(&mut watcher), Some(1 + IDLE_BEATS));
    }

    #[test]
    fn a_request_under_way_is_waited_for() {
        let pulse = Pulse::new();
        let mut watcher = Watcher::new(pulse.clone());
        let under_way = pulse.begin();
        assert_eq!(beats_until_silent(&mut watcher), None);
        drop(under_way);
        assert_eq!(beats_until_silent(&mut watcher), Some(IDLE_BEATS));
    }
}
