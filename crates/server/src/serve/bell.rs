//! The bell of the house: tells every connection that time has passed, or that the door closes.
//!
//! A timer for every head would cost a document a tenth of its time, and so would a
//! subscription that has to be renewed. Here whoever listens leaves word once how to be
//! woken, and from then on a look at a number says whether the bell has rung.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::time::sleep;

/// How often each connection hears it.
pub(super) const BEAT: Duration = Duration::from_millis(2_500);

/// It rings for one circle of connections after the other, so that thousands are not
/// woken, and perhaps hung up on, in the same moment.
const CIRCLES: usize = 10;
const PAUSE: Duration = Duration::from_millis(250);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Door {
    Open,
    Closed,
}

#[derive(Default)]
pub(super) struct Bell {
    closed: AtomicBool,
    circles: [Circle; CIRCLES],
    /// How many have ever come to listen.
    listeners: AtomicU64,
}

#[derive(Default)]
struct Circle {
    rings: AtomicU32,
    wakers: Mutex<HashMap<u64, Waker>>,
}

impl Circle {
    fn wakers(&self) -> MutexGuard<'_, HashMap<u64, Waker>> {
        // Nothing here panics half-way, so what a dead thread left is whole.
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ring(&self) {
        // Before anybody is woken, and before the lock: who leaves word later looks later.
        self.rings.fetch_add(1, Ordering::Release);
        self.wakers().values().for_each(Waker::wake_by_ref);
    }
}

impl Bell {
    /// Rings for ever.
    pub(super) async fn ring(self: Arc<Self>) -> Infallible {
        loop {
            for circle in &self.circles {
                sleep(PAUSE).await;
                circle.ring();
            }
        }
    }

    /// Everybody hears at once that the door is closed.
    pub(super) fn close_door(&self) {
        self.closed.store(true, Ordering::Release);
        self.circles.iter().for_each(Circle::ring);
    }

    pub(super) fn listen(self: &Arc<Self>) -> Listener {
        let number = self.listeners.fetch_add(1, Ordering::Relaxed);
        let mut listener = Listener { bell: self.clone(), number, heard: 0, waker: None };
        listener.heard = listener.circle().rings.load(Ordering::Acquire);
        if self.door() == Door::Closed {
            // Who comes so late has not heard that ring.
            listener.heard = listener.heard.wrapping_sub(1);
        }
        listener
    }

    fn door(&self) -> Door {
        if self.closed.load(Ordering::Acquire) { Door::Closed } else { Door::Open }
    }
}

/// One connection's ear.
pub(super) struct Listener {
    bell: Arc<Bell>,
    number: u64,
    heard: u32,
    /// As it was left with the bell.
    waker: Option<Waker>,
}

impl Listener {
    fn circle(&self) -> &Circle {
        let circles = u64::try_from(CIRCLES).expect("ten fits 64 bits");
        let circle = usize::try_from(self.number % circles).expect("less than ten");
        &self.bell.circles[circle]
    }

    /// How the door stands, if the bell has rung since it was heard last.
    pub(super) fn poll_rung(&mut self, context: &Context<'_>) -> Poll<Door> {
        let waker = context.waker();
        if !self.waker.as_ref().is_some_and(|left| left.will_wake(waker)) {
            let former = self.circle().wakers().insert(self.number, waker.clone());
            drop(former);
            self.waker = Some(waker.clone());
        }
        // After the word is left: a ring in between either finds it or is seen here.
        let rings = self.circle().rings.load(Ordering::Acquire);
        if rings == self.heard {
            return Poll::Pending;
        }
        self.heard = rings;
        Poll::Ready(self.bell.door())
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // Whatever hangs on it goes when the lock is free again.
        let left = self.circle().wakers().remove(&self.number);
        drop(left);
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::time::{Instant, timeout};

    use super::*;

    async fn rung(listener: &mut Listener) -> Door {
        poll_fn(|context| listener.poll_rung(context)).await
    }

    fn hang() -> Arc<Bell> {
        let bell = Arc::new(Bell::default());
        tokio::spawn(bell.clone().ring());
        bell
    }

    #[tokio::test(start_paused = true)]
    async fn every_circle_hears_it_once_in_a_beat() {
        let bell = hang();
        let begun = Instant::now();
        let mut listeners: Vec<Listener> = (0..2 * CIRCLES).map(|_| bell.listen()).collect();
        for beat in 1..4 {
            for listener in &mut listeners {
                assert_eq!(rung(listener).await, Door::Open);
            }
            assert_eq!(begun.elapsed().as_millis() / BEAT.as_millis(), beat);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_closing_door_is_heard_at_once_by_all() {
        let bell = Arc::new(Bell::default());
        let mut listeners: Vec<Listener> = (0..CIRCLES).map(|_| bell.listen()).collect();
        let waiting = rung(&mut listeners[3]);
        assert!(timeout(BEAT * 9, waiting).await.is_err(), "nobody rings");
        let begun = Instant::now();
        bell.close_door();
        for listener in &mut listeners {
            assert_eq!(rung(listener).await, Door::Closed);
        }
        assert_eq!(rung(&mut bell.listen()).await, Door::Closed, "who comes late too");
        assert_eq!(begun.elapsed(), Duration::ZERO);
    }

    #[tokio::test]
    async fn who_has_left_is_not_woken_any_more() {
        let bell = Arc::new(Bell::default());
        let mut listener = bell.listen();
        let _ = poll_fn(|context| Poll::Ready(listener.poll_rung(context))).await;
        let known = || bell.circles.iter().map(|circle| circle.wakers().len()).sum::<usize>();
        assert_eq!(known(), 1);
        drop(listener);
        assert_eq!(known(), 0);
    }

    /// Also while others come to listen on other threads.
    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn the_last_ring_is_heard_by_everybody_in_a_crowd() {
        for _ in 0..200 {
            let bell = Arc::new(Bell::default());
            let listeners = (0..100).map(|_| {
                let mut listener = bell.listen();
                tokio::spawn(async move { while rung(&mut listener).await == Door::Open {} })
            });
            let listeners: Vec<_> = listeners.collect();
            tokio::task::yield_now().await;
            bell.close_door();
            for listener in listeners {
                let heard = timeout(Duration::from_secs(60), listener).await;
                heard.expect("everybody hears the last ring").unwrap();
            }
        }
    }
}
