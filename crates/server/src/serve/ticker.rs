//! A shared coarse timer: wakes every connection at an interval, and at shutdown.
//!
//! A timer for each request head would add a tenth to the time of a document, and so would a
//! subscription that is renewed at each tick. Here a connection registers its waker once, and
//! from then on compares a counter.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::time::sleep;

/// The interval at which each connection is woken.
pub(super) const TICK: Duration = Duration::from_millis(2_500);

/// Connections are woken in groups, one after the other, so that thousands are not woken, and
/// perhaps closed, at the same moment.
const GROUPS: usize = 10;
const PAUSE: Duration = Duration::from_millis(250);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerState {
    Running,
    ShuttingDown,
}

#[derive(Default)]
pub(super) struct Ticker {
    shutting_down: AtomicBool,
    groups: [Group; GROUPS],
    /// How many subscriptions were ever created.
    subscriptions: AtomicU64,
}

#[derive(Default)]
struct Group {
    ticks: AtomicU32,
    wakers: Mutex<HashMap<u64, Waker>>,
}

impl Group {
    fn wakers(&self) -> MutexGuard<'_, HashMap<u64, Waker>> {
        // No code panics while it holds the lock, so the map is consistent.
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tick(&self) {
        // Before any waker, and before the lock: a later registration reads the counter later.
        self.ticks.fetch_add(1, Ordering::Release);
        self.wakers().values().for_each(Waker::wake_by_ref);
    }
}

impl Ticker {
    /// Ticks without end.
    pub(super) async fn run(self: Arc<Self>) -> Infallible {
        loop {
            for group in &self.groups {
                sleep(PAUSE).await;
                group.tick();
            }
        }
    }

    /// Wakes every connection at once with the state `ShuttingDown`.
    pub(super) fn shut_down(&self) {
        self.shutting_down.store(true, Ordering::Release);
        self.groups.iter().for_each(Group::tick);
    }

    pub(super) fn subscribe(self: &Arc<Self>) -> TickSubscription {
        let number = self.subscriptions.fetch_add(1, Ordering::Relaxed);
        let mut subscription =
            TickSubscription { ticker: self.clone(), number, seen: 0, waker: None };
        subscription.seen = subscription.group().ticks.load(Ordering::Acquire);
        if self.state() == ServerState::ShuttingDown {
            // The tick of the shutdown was before this subscription.
            subscription.seen = subscription.seen.wrapping_sub(1);
        }
        subscription
    }

    fn state(&self) -> ServerState {
        if self.shutting_down.load(Ordering::Acquire) {
            ServerState::ShuttingDown
        } else {
            ServerState::Running
        }
    }
}

/// One connection's subscription.
pub(super) struct TickSubscription {
    ticker: Arc<Ticker>,
    number: u64,
    seen: u32,
    /// The waker that is registered.
    waker: Option<Waker>,
}

impl TickSubscription {
    fn group(&self) -> &Group {
        let groups = u64::try_from(GROUPS).expect("ten fits 64 bits");
        let group = usize::try_from(self.number % groups).expect("less than ten");
        &self.ticker.groups[group]
    }

    /// The state of the server, if there was a tick since the last call.
    pub(super) fn poll_tick(&mut self, context: &Context<'_>) -> Poll<ServerState> {
        let waker = context.waker();
        if !self.waker.as_ref().is_some_and(|registered| registered.will_wake(waker)) {
            let former = self.group().wakers().insert(self.number, waker.clone());
            drop(former);
            self.waker = Some(waker.clone());
        }
        // After the registration: a tick in between either wakes it or is seen here.
        let ticks = self.group().ticks.load(Ordering::Acquire);
        if ticks == self.seen {
            return Poll::Pending;
        }
        self.seen = ticks;
        Poll::Ready(self.ticker.state())
    }
}

impl Drop for TickSubscription {
    fn drop(&mut self) {
        // The waker is dropped after the lock is released.
        let registered = self.group().wakers().remove(&self.number);
        drop(registered);
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::time::{Instant, timeout};

    use super::*;

    async fn tick(subscription: &mut TickSubscription) -> ServerState {
        poll_fn(|context| subscription.poll_tick(context)).await
    }

    fn running() -> Arc<Ticker> {
        let ticker = Arc::new(Ticker::default());
        tokio::spawn(ticker.clone().run());
        ticker
    }

    #[tokio::test(start_paused = true)]
    async fn every_group_is_woken_once_per_tick() {
        let ticker = running();
        let begun = Instant::now();
        let mut subscriptions: Vec<_> = (0..2 * GROUPS).map(|_| ticker.subscribe()).collect();
        for ticks in 1..4 {
            for subscription in &mut subscriptions {
                assert_eq!(tick(subscription).await, ServerState::Running);
            }
            assert_eq!(begun.elapsed().as_millis() / TICK.as_millis(), ticks);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_shutdown_wakes_all_subscriptions_at_once() {
        let ticker = Arc::new(Ticker::default());
        let mut subscriptions: Vec<_> = (0..GROUPS).map(|_| ticker.subscribe()).collect();
        let waiting = tick(&mut subscriptions[3]);
        assert!(timeout(TICK * 9, waiting).await.is_err(), "the ticker does not run");
        let begun = Instant::now();
        ticker.shut_down();
        for subscription in &mut subscriptions {
            assert_eq!(tick(subscription).await, ServerState::ShuttingDown);
        }
        let mut late = ticker.subscribe();
        assert_eq!(tick(&mut late).await, ServerState::ShuttingDown, "a late subscription too");
        assert_eq!(begun.elapsed(), Duration::ZERO);
    }

    #[tokio::test]
    async fn a_dropped_subscription_is_not_woken() {
        let ticker = Arc::new(Ticker::default());
        let mut subscription = ticker.subscribe();
        let _ = poll_fn(|context| Poll::Ready(subscription.poll_tick(context))).await;
        let registered = || ticker.groups.iter().map(|group| group.wakers().len()).sum::<usize>();
        assert_eq!(registered(), 1);
        drop(subscription);
        assert_eq!(registered(), 0);
    }

    /// Also while other threads subscribe.
    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn the_shutdown_reaches_every_one_of_many_concurrent_subscriptions() {
        for _ in 0..200 {
            let ticker = Arc::new(Ticker::default());
            let tasks = (0..100).map(|_| {
                let mut subscription = ticker.subscribe();
                tokio::spawn(async move {
                    while tick(&mut subscription).await == ServerState::Running {}
                })
            });
            let tasks: Vec<_> = tasks.collect();
            tokio::task::yield_now().await;
            ticker.shut_down();
            for task in tasks {
                let ended = timeout(Duration::from_secs(60), task).await;
                ended.expect("every subscription sees the shutdown").unwrap();
            }
        }
    }
}
