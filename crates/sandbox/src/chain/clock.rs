//! The clock of all chains, which can be advanced.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use order::ports::Clock;

pub(crate) struct ChainClock {
    clock: Arc<dyn Clock>,
    /// How far the chains are ahead of the clock, in seconds.
    ahead: AtomicU64,
}

impl ChainClock {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, ahead: AtomicU64::new(0) }
    }

    pub(crate) fn now(&self) -> u64 {
        self.clock.now().0.saturating_add(self.ahead.load(Ordering::Relaxed))
    }

    pub(crate) fn advance(&self, seconds: u64) {
        self.ahead.fetch_add(seconds, Ordering::Relaxed);
    }
}
