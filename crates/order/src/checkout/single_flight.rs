//! Single flight: one request at a time for each operation, or other key, in this process.

use std::collections::{BTreeMap, HashMap};
use std::future::poll_fn;
use std::hash::Hash;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use crate::model::ids::OperationKey;

/// How many requests may wait for one operation. A payer's program repeats a request a few
/// times; hundreds of repeats are abuse.
const WAITING_MAX: usize = 256;

/// Which keys have a request that runs, and which requests wait.
pub struct SingleFlight<K = OperationKey> {
    lines: Mutex<HashMap<K, Line>>,
}

impl<K> Default for SingleFlight<K> {
    fn default() -> Self {
        Self { lines: Mutex::default() }
    }
}

/// The requests for one key.
#[derive(Default)]
struct Line {
    turn: TurnState,
    /// In order of arrival.
    waiting: BTreeMap<u64, Waker>,
    came: u64,
}

#[derive(Default, PartialEq, Eq)]
enum TurnState {
    #[default]
    Free,
    Taken,
}

/// The right to run. It ends when this is dropped, also by a panic.
pub struct Turn<'a, K: Copy + Eq + Hash = OperationKey> {
    single_flight: &'a SingleFlight<K>,
    key: K,
}

/// A place in the queue, released when this is dropped.
struct Place<'a, K: Copy + Eq + Hash> {
    single_flight: &'a SingleFlight<K>,
    key: K,
    number: Option<u64>,
}

impl<K: Copy + Eq + Hash> SingleFlight<K> {
    /// Waits for a turn until `timeout` completes. None at once if the queue is full.
    pub async fn turn(&self, key: K, timeout: impl Future) -> Option<Turn<'_, K>> {
        let mut timeout = pin!(timeout);
        let mut place = Place { single_flight: self, key, number: None };
        poll_fn(|context| {
            let mut lines = self.lines();
            let line = lines.entry(key).or_default();
            if line.turn == TurnState::Free {
                line.turn = TurnState::Taken;
                if let Some(number) = place.number.take() {
                    line.waiting.remove(&number);
                }
                return Poll::Ready(Some(Turn { single_flight: self, key }));
            }
            if place.number.is_none() {
                if line.waiting.len() >= WAITING_MAX {
                    return Poll::Ready(None);
                }
                line.came += 1;
                place.number = Some(line.came);
            }
            let number = place.number.unwrap_or_default();
            line.waiting.insert(number, context.waker().clone());
            // The lock must not be held while a waker runs.
            drop(lines);
            timeout.as_mut().poll(context).map(|_| None)
        })
        .await
    }

    /// Changes a queue, and wakes its first request if none runs then. One is enough: a request
    /// that leaves the queue wakes the next.
    fn leave(&self, key: K, leave: impl FnOnce(&mut Line)) {
        let mut lines = self.lines();
        let Some(line) = lines.get_mut(&key) else { return };
        leave(line);
        if line.turn == TurnState::Taken {
            return;
        }
        let first = line.waiting.first_key_value().map(|(_, waker)| waker.clone());
        if first.is_none() {
            lines.remove(&key);
        }
        drop(lines);
        first.into_iter().for_each(Waker::wake);
    }

    fn lines(&self) -> MutexGuard<'_, HashMap<K, Line>> {
        // Nothing that runs under this lock can leave the map half changed.
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Copy + Eq + Hash> Drop for Turn<'_, K> {
    fn drop(&mut self) {
        self.single_flight.leave(self.key, |line| line.turn = TurnState::Free);
    }
}

impl<K: Copy + Eq + Hash> Drop for Place<'_, K> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.single_flight.leave(self.key, |line| drop(line.waiting.remove(&number)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, ready};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Wake};

    const KEY: OperationKey = OperationKey([1; 32]);

    #[test]
    fn the_second_waits_until_the_first_is_done() {
        let single_flight = SingleFlight::<OperationKey>::default();
        let mut context = Context::from_waker(Waker::noop());
        let mut first = Box::pin(single_flight.turn(KEY, pending::<()>()));
        let Poll::Ready(Some(turn)) = first.as_mut().poll(&mut context) else { panic!("free") };
        let mut second = Box::pin(single_flight.turn(KEY, pending::<()>()));
        assert!(second.as_mut().poll(&mut context).is_pending());
        let mut other = Box::pin(single_flight.turn(OperationKey([2; 32]), pending::<()>()));
        assert!(matches!(other.as_mut().poll(&mut context), Poll::Ready(Some(_))));
        drop(turn);
        assert!(matches!(second.as_mut().poll(&mut context), Poll::Ready(Some(_))));
    }

    #[test]
    fn a_request_whose_timeout_ends_gets_no_turn() {
        let single_flight = SingleFlight::<OperationKey>::default();
        let mut context = Context::from_waker(Waker::noop());
        let mut first = Box::pin(single_flight.turn(KEY, pending::<()>()));
        let Poll::Ready(Some(_turn)) = first.as_mut().poll(&mut context) else { panic!("free") };
        let mut second = Box::pin(single_flight.turn(KEY, ready(())));
        assert!(matches!(second.as_mut().poll(&mut context), Poll::Ready(None)));
    }

    /// Counts how often it is woken.
    #[derive(Default)]
    struct Bell(AtomicUsize);

    impl Wake for Bell {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn one_is_woken_at_a_time_and_one_that_leaves_wakes_the_next() {
        let single_flight = SingleFlight::<OperationKey>::default();
        let bells: Vec<Arc<Bell>> = (0..3).map(|_| Arc::default()).collect();
        let mut now = Context::from_waker(Waker::noop());
        let mut first = Box::pin(single_flight.turn(KEY, pending::<()>()));
        let Poll::Ready(Some(turn)) = first.as_mut().poll(&mut now) else { panic!("free") };
        let mut others: Vec<_> = bells
            .iter()
            .map(|bell| {
                let mut other = Box::pin(single_flight.turn(KEY, pending::<()>()));
                let waker = Waker::from(bell.clone());
                assert!(other.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
                other
            })
            .collect();
        let heard = || bells.iter().map(|bell| bell.0.load(Ordering::Relaxed)).collect::<Vec<_>>();
        drop(turn);
        assert_eq!(heard(), [1, 0, 0]);
        drop(others.remove(0));
        assert_eq!(heard(), [1, 1, 0]);
        let Poll::Ready(Some(turn)) = others.remove(0).as_mut().poll(&mut now) else {
            panic!("called")
        };
        drop(turn);
        assert_eq!(heard(), [1, 1, 1]);
        drop(others);
        assert!(single_flight.lines().is_empty(), "nothing is remembered of those who are gone");
    }

    #[test]
    fn a_full_queue_refuses_at_once() {
        let single_flight = SingleFlight::<OperationKey>::default();
        let mut now = Context::from_waker(Waker::noop());
        let mut crowd: Vec<_> =
            (0..=WAITING_MAX).map(|_| Box::pin(single_flight.turn(KEY, pending::<()>()))).collect();
        let turns: Vec<_> = crowd.iter_mut().map(|one| one.as_mut().poll(&mut now)).collect();
        assert!(matches!(turns.first(), Some(Poll::Ready(Some(_)))));
        assert!(turns.iter().skip(1).all(Poll::is_pending));
        let mut late = Box::pin(single_flight.turn(KEY, pending::<()>()));
        assert!(matches!(late.as_mut().poll(&mut now), Poll::Ready(None)));
        let mut other = Box::pin(single_flight.turn(OperationKey([2; 32]), pending::<()>()));
        assert!(matches!(other.as_mut().poll(&mut now), Poll::Ready(Some(_))));
    }
}
