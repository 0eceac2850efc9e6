//! A world without delay, whose time moves only when a test says so.

use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;

use super::world::Pace;

/// Time that stands still until it is moved.
#[derive(Clone, Default)]
pub struct Still {
    milliseconds: Arc<AtomicU64>,
}

impl Still {
    pub fn advance(&self, seconds: u64) {
        self.milliseconds.fetch_add(seconds * 1_000, Ordering::Relaxed);
    }
}

#[async_trait]
impl Pace for Still {
    fn elapsed(&self) -> u64 {
        self.milliseconds.load(Ordering::Relaxed)
    }

    async fn travel(&self) {}

    async fn wait(&self, _milliseconds: u64) {
        pending().await
    }
}

/// Runs a walk that never waits. None if it crashed on its way.
pub fn drive<T>(walk: impl Future<Output = T>) -> Option<T> {
    match pin!(walk).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(said) => Some(said),
        Poll::Pending => None,
    }
}
