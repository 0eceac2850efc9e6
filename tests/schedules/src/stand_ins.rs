//! What the copied modules call besides locks and atomics: tokio's types with a switch of tasks
//! before each step, and a database in memory.

use std::ops::Deref;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use shuttle::future::JoinHandle;

use self::channel::{Receiver, Unavailable};

pub mod channel;
pub mod sqlite;
pub mod watch;

/// Lets any other task go on.
pub fn step() {
    shuttle::thread::yield_now();
}

/// One of the numbers below `bound`, which the seed determines.
pub fn random(bound: u64) -> u64 {
    use shuttle::rand::Rng;
    shuttle::rand::thread_rng().gen_range(0..bound)
}

/// Why a lookup of a name failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookupError {
    Busy,
    TimedOut,
}

/// The time limit was reached.
#[derive(Debug)]
pub struct Elapsed;

/// A limit of zero ends at the first wait, any other never.
pub async fn timeout<F: Future>(limit: Duration, future: F) -> Result<F::Output, Elapsed> {
    let mut future = pin!(future);
    std::future::poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Ok(output)),
        Poll::Pending if limit.is_zero() => Poll::Ready(Err(Elapsed)),
        Poll::Pending => Poll::Pending,
    })
    .await
}

pub fn spawn_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    shuttle::future::spawn(async move { work() })
}

/// Waits until any other task has gone on, and then no longer.
pub fn recv_briefly<T>(waiting: &Receiver<T>) -> Result<T, Unavailable> {
    step();
    waiting.try_recv()
}

/// An `Arc` whose end is a step of its own, as it is on a real machine.
pub struct CountedArc<T>(Arc<T>);

impl<T> CountedArc<T> {
    pub fn ptr_eq(one: &Self, other: &Self) -> bool {
        Arc::ptr_eq(&one.0, &other.0)
    }

    pub fn strong_count(this: &Self) -> usize {
        Arc::strong_count(&this.0)
    }
}

impl<T: Default> Default for CountedArc<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> Clone for CountedArc<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Deref for CountedArc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Drop for CountedArc<T> {
    fn drop(&mut self) {
        step();
    }
}
