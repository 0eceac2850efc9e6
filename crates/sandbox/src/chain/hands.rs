//! The time of all chains, which the sandbox can put forward.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use order::ports::Clock;

pub(super) struct Hands {
    clock: Arc<dyn Clock>,
    /// How far the chains are ahead of the clock, in seconds.
    ahead: AtomicU64,
}

impl Hands {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, ahead: AtomicU64::new(0) }
    }

    pub(super) fn now(&self) -> u64 {
        self.clock.now().0.saturating_add(self.ahead.load(Ordering::Relaxed))
    }

    pub(super) fn advance(&self, seconds: u64) {
        self.ahead.fetch_add(seconds, Ordering::Relaxed);
    }
}
