//! Refreshes the metrics that no request changes, on a timer.

use std::sync::Arc;
use std::time::Duration;

use adapters::provider::budget::CallBudget;
use order::ports::{Clock, Store};
use tokio::time::sleep;

use crate::metrics::{self, MetricsHandle};

/// Each measurement takes 16 bytes until it is put into its bucket, and there may be a hundred
/// thousand in a second.
const INTERVAL: Duration = Duration::from_secs(1);

/// Orders are counted at every so many intervals.
const ORDERS_INTERVALS: u32 = 10;

pub(crate) struct MetricsJob {
    pub(crate) metrics: MetricsHandle,
    pub(crate) provider_budget: Option<Arc<CallBudget>>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl MetricsJob {
    /// Runs until the process ends.
    pub(crate) async fn run(self) {
        let mut interval = 0_u32;
        loop {
            self.metrics.run_upkeep();
            let budget = self.provider_budget.as_ref();
            if let Some(left) = budget.and_then(|budget| budget.calls_left()) {
                metrics::set_provider_calls_left(left);
            }
            if interval.is_multiple_of(ORDERS_INTERVALS)
                && let Ok(counts) = self.store.count_in_play().await
            {
                metrics::update_orders(&counts, self.clock.now());
            }
            interval = interval.wrapping_add(1);
            sleep(INTERVAL).await;
        }
    }
}
