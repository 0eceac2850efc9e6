//! Expires unpaid identifiers and deletes rows that are no longer needed, on a timer.

use std::sync::Arc;
use std::time::Duration;

use adapters::clock::SystemClock;
use order::ports::{Clock, Store, Tidied, TidyLimits};
use tokio::time::sleep;
use tracing::{info, warn};

/// An identifier expires after a day, whether or not that is written yet.
const INTERVAL: Duration = Duration::from_secs(5 * 60);

/// Runs until the process ends.
pub(crate) async fn run(store: Arc<dyn Store>) {
    let clock = SystemClock::start();
    loop {
        match store.tidy(clock.now(), TidyLimits::DEFAULT).await {
            Ok(Tidied { lapsed: 0, dropped: 0 }) => {}
            Ok(Tidied { lapsed, dropped }) => info!(lapsed, dropped, "expired and deleted rows"),
            Err(error) => warn!(kind = ?error, "cannot expire rows; will retry"),
        }
        sleep(INTERVAL).await;
    }
}
