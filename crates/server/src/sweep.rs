//! What is done on a timer: offers lapse, and what nobody needs is dropped.

use std::sync::Arc;
use std::time::Duration;

use adapters::clock::SystemClock;
use order::ports::{Clock, Store, Tidied, TidyLimits};
use tokio::time::sleep;
use tracing::{info, warn};

/// An identifier expires after a day, whether or not that is written yet.
const PAUSE: Duration = Duration::from_secs(5 * 60);

/// Goes on until the process ends.
pub(crate) async fn run(store: Arc<dyn Store>) {
    let clock = SystemClock::start();
    loop {
        match store.tidy(clock.now(), TidyLimits::DEFAULT).await {
            Ok(Tidied { lapsed: 0, dropped: 0 }) => {}
            Ok(Tidied { lapsed, dropped }) => info!(lapsed, dropped, "tidied"),
            Err(error) => warn!(kind = ?error, "cannot tidy, will try again"),
        }
        sleep(PAUSE).await;
    }
}
