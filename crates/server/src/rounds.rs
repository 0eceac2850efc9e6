//! The reconciler's rounds: what a crash or a lost answer left behind is looked into, again and again.

use std::sync::Arc;
use std::time::Duration;

use order::desk::Desk;
use order::tender::Tenders;
use tokio::time::sleep;
use tracing::{info, warn};

/// Between two rounds. Each order has its own pace beside this one.
const PAUSE_SECONDS: u64 = 5;

/// Goes on until the process ends.
pub(crate) async fn run(desk: Arc<Desk>, tenders: Tenders) {
    loop {
        match desk.reconcile(&tenders).await {
            Ok(0) => {}
            Ok(looked_into) => info!(looked_into, "looked into orders"),
            Err(refusal) => warn!(kind = ?refusal, "cannot look into orders, will try again"),
        }
        desk.clock.wait(PAUSE_SECONDS).await;
        sleep(jitter()).await;
    }
}

/// Up to a second, so that several instances do not knock together.
fn jitter() -> Duration {
    let mut byte = [0];
    // Without randomness the rounds are merely regular.
    let _ = getrandom::fill(&mut byte);
    Duration::from_millis(u64::from(byte[0]) * 4)
}
