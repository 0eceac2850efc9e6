//! Time without delays that moves only when a test advances it.

use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;

use super::world::SimulatedTime;

/// Time that stands still until it is advanced.
#[derive(Clone, Default)]
pub struct ManualTime {
    milliseconds: Arc<AtomicU64>,
}

impl ManualTime {
    pub fn advance(&self, seconds: u64) {
        self.milliseconds.fetch_add(seconds * 1_000, Ordering::Relaxed);
    }
}

#[async_trait]
impl SimulatedTime for ManualTime {
    fn elapsed(&self) -> u64 {
        self.milliseconds.load(Ordering::Relaxed)
    }

    async fn network_delay(&self) {}

    async fn wait(&self, _milliseconds: u64) {
        pending().await
    }
}

/// Runs a future that never waits. None if it crashed.
pub fn poll_once<T>(walk: impl Future<Output = T>) -> Option<T> {
    match pin!(walk).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(response) => Some(response),
        Poll::Pending => None,
    }
}
