//! The reconciler's rounds: what a crash or a lost answer left behind is looked into, again and again.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use order::checkout::Desk;
use order::reconciler::alert::{Alert, AlertKind};
use order::tender::Tenders;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout_at};
use tracing::{error, info, warn};

/// Between two rounds. Each order has its own pace beside this one.
const PAUSE_SECONDS: u64 = 5;

/// The reconciler in a task of its own.
pub(crate) struct Rounds {
    stop: watch::Sender<()>,
    task: JoinHandle<()>,
}

/// Whether the reconciler was at an order when the time was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfinished {
    No,
    Yes,
}

impl Rounds {
    pub(crate) fn start(desk: Arc<Desk>, tenders: Tenders) -> Self {
        let (stop, stopped) = watch::channel(());
        Self { stop, task: tokio::spawn(run(desk, tenders, stopped)) }
    }

    /// No further orders are claimed. What was claimed is finished.
    pub(crate) fn stop(&self) {
        // If nobody listens, the task has ended.
        let _ = self.stop.send(());
    }

    /// Waits for the round under way, which is cut off at the deadline.
    pub(crate) async fn finish(&mut self, deadline: Instant) -> Unfinished {
        match timeout_at(deadline, &mut self.task).await {
            Ok(_) => Unfinished::No,
            Err(_) => Unfinished::Yes,
        }
    }
}

impl Drop for Rounds {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Goes on until it is told to stop, between two rounds.
async fn run(desk: Arc<Desk>, tenders: Tenders, mut stopped: watch::Receiver<()>) {
    loop {
        match desk.reconcile(&tenders, &tell).await {
            Ok(0) => {}
            Ok(looked_into) => info!(looked_into, "looked into orders"),
            Err(refusal) => warn!(kind = ?refusal, "cannot look into orders, will try again"),
        }
        tokio::select! {
            biased;
            _ = stopped.changed() => return,
            () = pause(&desk) => {}
            () = desk.store.orphaned() => info!("a process died; examining its orders"),
        }
    }
}

async fn pause(desk: &Desk) {
    desk.clock.wait(PAUSE_SECONDS).await;
    sleep(jitter()).await;
}

/// An alarm: each of these waits for a person. `docs/how-to/investigate-an-order.md` goes on from here.
fn tell(Alert { order, kind }: Alert) {
    error!(order.id = %order, "{}", words(&kind));
}

fn words(kind: &AlertKind) -> Cow<'static, str> {
    Cow::Borrowed(match kind {
        AlertKind::ReversedElsewhere(provider) => {
            let provider = provider.as_ref().map_or("unknown", |provider| &provider.0);
            return Cow::Owned(format!(
                "The chain took back the money for a card at the provider account `{provider}`, \
                 which is not configured; cancel the card there, or configure that account again"
            ));
        }
        AlertKind::Payment => {
            "Nobody can say whether a payment moved; look at the nodes in payments.rpc, and \
             whether its way of paying is still open"
        }
        AlertKind::RefusedCard => {
            "The provider goes on refusing a card that is paid for; it is handed in again until \
             the provider takes it"
        }
        AlertKind::CardInDoubt => {
            "A card that is paid for may be in the post, or not; look for it at the provider"
        }
        AlertKind::Finality => {
            "The money for a card does not become final; look at the nodes in payments.rpc, and \
             whether its way of paying is still open"
        }
        AlertKind::Reversed => {
            "The chain took back the money for a card that could not be stopped any more"
        }
        AlertKind::Undelivered => "The provider says that a card which is paid for will not arrive",
    })
}

/// Up to a second, so that several instances do not knock together.
fn jitter() -> Duration {
    let mut byte = [0];
    // Without randomness the rounds are merely regular.
    let _ = getrandom::fill(&mut byte);
    Duration::from_millis(u64::from(byte[0]) * 4)
}
