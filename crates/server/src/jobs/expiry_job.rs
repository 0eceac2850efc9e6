//! Expires unpaid identifiers and deletes rows that are no longer needed, on a timer.

use std::sync::Arc;
use std::time::Duration;

use order::ports::{Clock, Store, Tidied, TidyLimits};
use tokio::time::sleep;
use tracing::{info, warn};

/// Often enough: an identifier has expired after a day also if that is not written yet.
const INTERVAL: Duration = Duration::from_secs(5 * 60);

/// Runs until the process ends.
pub(crate) async fn run(store: Arc<dyn Store>, clock: Arc<dyn Clock>) {
    loop {
        match store.tidy(clock.now(), TidyLimits::DEFAULT).await {
            Ok(Tidied { lapsed: 0, dropped: 0 }) => {}
            Ok(Tidied { lapsed, dropped }) => info!(lapsed, dropped, "expired and deleted rows"),
            Err(error) => warn!(kind = ?error, "cannot expire rows; will retry"),
        }
        sleep(INTERVAL).await;
    }
}
