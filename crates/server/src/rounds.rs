//! The reconciler's rounds: what a crash or a lost answer left behind is looked into, again and again.

use std::sync::Arc;
use std::time::Duration;

use order::concern::{About, Concern};
use order::desk::Desk;
use order::tender::Tenders;
use tokio::time::sleep;
use tracing::{error, info, warn};

/// Between two rounds. Each order has its own pace beside this one.
const PAUSE_SECONDS: u64 = 5;

/// Goes on until the process ends.
pub(crate) async fn run(desk: Arc<Desk>, tenders: Tenders) {
    loop {
        match desk.reconcile(&tenders, &tell).await {
            Ok(0) => {}
            Ok(looked_into) => info!(looked_into, "looked into orders"),
            Err(refusal) => warn!(kind = ?refusal, "cannot look into orders, will try again"),
        }
        tokio::select! {
            () = pause(&desk) => {}
            () = desk.store.orphaned() => info!("a process died; examining its orders"),
        }
    }
}

async fn pause(desk: &Desk) {
    desk.clock.wait(PAUSE_SECONDS).await;
    sleep(jitter()).await;
}

/// An alarm: each of these waits for a person. `docs/how-to/look-into-an-order.md` goes on from here.
fn tell(Concern { order, about }: Concern) {
    error!(order.id = %order, "{}", words(about));
}

const fn words(about: About) -> &'static str {
    match about {
        About::Payment => {
            "Nobody can say whether a payment moved; look at the nodes in payments.rpc, and \
             whether its way of paying is still open"
        }
        About::RefusedCard => {
            "The provider goes on refusing a card that is paid for; it is handed in again until \
             the provider takes it"
        }
        About::CardInDoubt => {
            "A card that is paid for may be in the post, or not; look for it at the provider"
        }
        About::Finality => {
            "The money for a card does not become final; look at the nodes in payments.rpc, and \
             whether its way of paying is still open"
        }
        About::Reversed => {
            "The chain took back the money for a card that could not be stopped any more"
        }
        About::Undelivered => "The provider says that a card which is paid for will not arrive",
    }
}

/// Up to a second, so that several instances do not knock together.
fn jitter() -> Duration {
    let mut byte = [0];
    // Without randomness the rounds are merely regular.
    let _ = getrandom::fill(&mut byte);
    Duration::from_millis(u64::from(byte[0]) * 4)
}
