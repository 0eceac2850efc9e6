//! Refreshes the metrics that no request changes, on a timer.

use std::sync::Arc;
use std::time::Duration;

use adapters::provider::budget::CallBudget;
use tokio::time::sleep;

use crate::metrics::{self, MetricsHandle};

/// Each measurement takes 16 bytes until it is put into its bucket, and there may be a hundred
/// thousand in a second.
const INTERVAL: Duration = Duration::from_secs(1);

/// Orders are counted at every so many intervals, because the store reads all of them.
const ORDERS_INTERVALS: u32 = 30;

/// How many orders are in a state, by its name, and the age of the oldest in seconds.
pub(crate) type OrderCount = (String, u64, u64);

/// Runs until the process ends. `read_orders` returns none if the orders cannot be counted now.
pub(crate) async fn run<C>(
    metrics: MetricsHandle,
    provider_budget: Option<Arc<CallBudget>>,
    read_orders: impl Fn() -> C,
) where
    C: Future<Output = Option<Vec<OrderCount>>>,
{
    let mut interval = 0_u32;
    loop {
        metrics.run_upkeep();
        if let Some(left) = provider_budget.as_ref().and_then(|budget| budget.calls_left()) {
            metrics::set_provider_calls_left(left);
        }
        if interval.is_multiple_of(ORDERS_INTERVALS)
            && let Some(counts) = read_orders().await
        {
            metrics::update_orders(&counts);
        }
        interval = interval.wrapping_add(1);
        sleep(INTERVAL).await;
    }
}
