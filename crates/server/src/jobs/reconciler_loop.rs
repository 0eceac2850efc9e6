//! Runs the reconciler periodically, which completes orders that a crash or a lost response left open.

use std::time::Duration;

use adapters::clock::SystemClock;
use order::ports::Clock;
use order::reconciler::Reconciler;
use order::reconciler::alert::{Alert, AlertKind};
use order::tender::Tenders;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout_at};
use tracing::{error, info, warn};

use crate::metrics;

/// Between two runs. Each order has its own retry schedule in addition.
const PAUSE_SECONDS: u64 = 5;

/// The task that runs the reconciler.
pub(crate) struct ReconcilerLoop {
    stop: watch::Sender<()>,
    task: JoinHandle<()>,
}

/// Whether the task ended before the deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReconcilerEnd {
    Finished,
    TimedOut,
}

impl ReconcilerLoop {
    pub(crate) fn start(reconciler: Reconciler, tenders: Tenders) -> Self {
        let (stop, stopped) = watch::channel(());
        Self { stop, task: tokio::spawn(run(reconciler, tenders, stopped)) }
    }

    /// Claims no further orders; claimed orders are completed.
    pub(crate) fn stop(&self) {
        // It fails only if the task has ended.
        let _ = self.stop.send(());
    }

    /// Waits for the current run until the deadline.
    pub(crate) async fn finish(&mut self, deadline: Instant) -> ReconcilerEnd {
        match timeout_at(deadline, &mut self.task).await {
            Ok(_) => ReconcilerEnd::Finished,
            Err(_) => ReconcilerEnd::TimedOut,
        }
    }
}

impl Drop for ReconcilerLoop {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Runs until it is stopped, which takes effect between two runs.
async fn run(reconciler: Reconciler, tenders: Tenders, mut stopped: watch::Receiver<()>) {
    loop {
        match reconciler.reconcile(&tenders, &log_alert).await {
            Ok(count) => {
                metrics::set_reconciled(SystemClock::start().now());
                if count > 0 {
                    info!(count, "reconciled orders");
                }
            }
            Err(refusal) => warn!(kind = ?refusal, "cannot reconcile orders; will retry"),
        }
        tokio::select! {
            biased;
            _ = stopped.changed() => return,
            () = pause(&*reconciler.writer.clock) => {}
            () = reconciler.writer.store.orphaned() => info!("a process ended without releasing its orders; reconciling them"),
        }
    }
}

async fn pause(clock: &dyn Clock) {
    clock.wait(PAUSE_SECONDS).await;
    sleep(jitter()).await;
}

/// Each alert requires an operator. `docs/how-to/investigate-an-order.md` describes what to do.
fn log_alert(Alert { order, kind }: Alert) {
    let text = alert_text(&kind);
    metrics::count_alert(&kind);
    match kind {
        AlertKind::ReversedElsewhere(account) => {
            let account = account.map_or_else(|| "unknown".to_owned(), |account| account.0);
            error!(order.id = %order, provider_account = account, "{text}");
        }
        AlertKind::Payment
        | AlertKind::RefusedCard
        | AlertKind::CardInDoubt
        | AlertKind::Finality
        | AlertKind::Reversed
        | AlertKind::Undelivered
        | AlertKind::RefundDue => error!(order.id = %order, "{text}"),
    }
}

fn alert_text(kind: &AlertKind) -> &'static str {
    match kind {
        AlertKind::ReversedElsewhere(_) => {
            "payment reversed by a reorganisation, and the card is at a provider account that is \
             not configured; cancel the card there, or configure that account again"
        }
        AlertKind::Payment => {
            "payment status unknown; check the nodes in payments.rpc, and that the payment method \
             is still configured"
        }
        AlertKind::RefusedCard => {
            "the provider keeps refusing a paid card; it is submitted again until accepted"
        }
        AlertKind::CardInDoubt => {
            "unknown whether a paid card was mailed; look it up at the provider"
        }
        AlertKind::Finality => {
            "a payment does not become final; check the nodes in payments.rpc, and that the payment \
             method is still configured"
        }
        AlertKind::Reversed => {
            "payment reversed by a reorganisation after the card could no longer be canceled"
        }
        AlertKind::Undelivered => {
            "the provider reports that a paid card will not be delivered; refund the payer"
        }
        AlertKind::RefundDue => "a paid card was erased and will not be mailed; refund the payer",
    }
}

/// Up to a second, so that several instances do not run at the same moment.
fn jitter() -> Duration {
    let mut byte = [0];
    // Without randomness the interval is constant.
    let _ = getrandom::fill(&mut byte);
    Duration::from_millis(u64::from(byte[0]) * 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runbook_quotes_the_log_line_of_every_alert() {
        let runbook = include_str!("../../../../docs/operate/alerts.md");
        for kind in [
            AlertKind::Payment,
            AlertKind::RefusedCard,
            AlertKind::CardInDoubt,
            AlertKind::Finality,
            AlertKind::Reversed,
            AlertKind::ReversedElsewhere(None),
            AlertKind::Undelivered,
            AlertKind::RefundDue,
        ] {
            let line = format!("> {}\n", alert_text(&kind));
            assert!(runbook.contains(&line), "{kind:?}: {line}");
        }
    }
}
