//! Single flight: one paid walk at a time for each operation in this process.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use crate::ids::OperationKey;

/// Who is walking, and who waits for them.
#[derive(Default)]
pub struct Flights {
    waiting: Mutex<HashMap<OperationKey, Vec<Waker>>>,
}

/// The right to walk. It ends when this is dropped, also by a panic.
pub struct Turn<'a> {
    flights: &'a Flights,
    key: OperationKey,
}

impl Flights {
    /// Waits for a turn, but no longer than `patience` takes.
    pub async fn turn(&self, key: OperationKey, patience: impl Future) -> Option<Turn<'_>> {
        let mut patience = pin!(patience);
        poll_fn(move |context| {
            let mut waiting = self.waiting();
            let Some(others) = waiting.get_mut(&key) else {
                waiting.insert(key, Vec::new());
                return Poll::Ready(Some(Turn { flights: self, key }));
            };
            if !others.iter().any(|other| other.will_wake(context.waker())) {
                others.push(context.waker().clone());
            }
            // The lock must not be held while somebody else's code runs.
            drop(waiting);
            patience.as_mut().poll(context).map(|_| None)
        })
        .await
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<OperationKey, Vec<Waker>>> {
        // Nothing that runs under this lock can leave the map half changed.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let waiting = self.flights.waiting().remove(&self.key);
        waiting.into_iter().flatten().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, ready};
    use std::task::Context;

    const KEY: OperationKey = OperationKey([1; 32]);

    #[test]
    fn the_second_waits_until_the_first_is_done() {
        let flights = Flights::default();
        let mut context = Context::from_waker(Waker::noop());
        let mut first = Box::pin(flights.turn(KEY, pending::<()>()));
        let Poll::Ready(Some(turn)) = first.as_mut().poll(&mut context) else { panic!("free") };
        let mut second = Box::pin(flights.turn(KEY, pending::<()>()));
        assert!(second.as_mut().poll(&mut context).is_pending());
        let mut other = Box::pin(flights.turn(OperationKey([2; 32]), pending::<()>()));
        assert!(matches!(other.as_mut().poll(&mut context), Poll::Ready(Some(_))));
        drop(turn);
        assert!(matches!(second.as_mut().poll(&mut context), Poll::Ready(Some(_))));
    }

    #[test]
    fn whoever_runs_out_of_patience_gets_no_turn() {
        let flights = Flights::default();
        let mut context = Context::from_waker(Waker::noop());
        let mut first = Box::pin(flights.turn(KEY, pending::<()>()));
        let Poll::Ready(Some(_turn)) = first.as_mut().poll(&mut context) else { panic!("free") };
        let mut second = Box::pin(flights.turn(KEY, ready(())));
        assert!(matches!(second.as_mut().poll(&mut context), Poll::Ready(None)));
    }
}
