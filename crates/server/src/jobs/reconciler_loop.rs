//! Runs the reconciler periodically, which completes orders that a crash or a lost response left open.

use std::pin::pin;
use std::time::Duration;

use adapters::clock::SystemClock;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use order::ports::Clock;
use order::reconciler::alert::{Alert, AlertKind};
use order::reconciler::{BATCH, Reconciler};
use order::tender::Tenders;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout_at};
use tracing::{error, info, warn};

use crate::metrics;

/// Between the starts of two runs. Each order has its own retry schedule in addition.
const PAUSE_SECONDS: u64 = 5;
/// Runs overlap, so that a request without an answer delays only the orders of its own run.
const RUNS_AT_ONCE: usize = 4;

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

    /// Waits for the current runs until the deadline.
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

/// Starts runs until it is stopped, and then completes those that have started.
async fn run(reconciler: Reconciler, tenders: Tenders, mut stopped: watch::Receiver<()>) {
    let mut runs = FuturesUnordered::new();
    loop {
        if runs.len() < RUNS_AT_ONCE {
            runs.push(run_once(&reconciler, &tenders));
        }
        let mut next = pin!(pause(&*reconciler.writer.clock));
        loop {
            tokio::select! {
                biased;
                _ = stopped.changed() => {
                    while runs.next().await.is_some() {}
                    return;
                }
                () = &mut next => break,
                () = reconciler.writer.store.orphaned() => {
                    info!("a process ended without releasing its orders; reconciling them");
                    break;
                }
                Some(count) = runs.next() => {
                    // There may be more orders that are due.
                    if count == BATCH {
                        break;
                    }
                }
            }
        }
    }
}

/// Returns how many orders were examined.
async fn run_once(reconciler: &Reconciler, tenders: &Tenders) -> usize {
    match reconciler.reconcile(tenders, &log_alert).await {
        Ok(count) => {
            metrics::set_reconciled(SystemClock::start().now());
            if count > 0 {
                info!(count, "reconciled orders");
            }
            count
        }
        Err(refusal) => {
            warn!(kind = ?refusal, "cannot reconcile orders; will retry");
            0
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
mod tests;
