//! The shared timer: every connection hears the shutdown, whenever it subscribed.

use std::future::poll_fn;
use std::sync::Arc;

use shuttle::future::{block_on, spawn};

use crate::explore::saw;
use crate::sources::ticker::{ServerState, TickSubscription, Ticker};

pub const KINDS: &[&str] = &["shutdowns heard", "waits that a shutdown ended"];

/// Connections subscribe while the server shuts down. One that is never woken is a deadlock.
pub fn run() {
    let ticker = Arc::new(Ticker::default());
    let connections: Vec<_> = (0..3)
        .map(|_| {
            let ticker = ticker.clone();
            spawn(async move {
                let mut subscription = ticker.subscribe();
                while tick(&mut subscription).await == ServerState::Running {}
                saw(KINDS[0]);
            })
        })
        .collect();
    let shutdown = spawn(async move { ticker.shut_down() });
    block_on(async {
        for task in connections {
            task.await.expect("it does not panic");
        }
        shutdown.await.expect("it does not panic");
    });
}

async fn tick(subscription: &mut TickSubscription) -> ServerState {
    let mut waited = false;
    let state = poll_fn(|context| {
        let ticked = subscription.poll_tick(context);
        waited |= ticked.is_pending();
        ticked
    })
    .await;
    if waited {
        saw(KINDS[1]);
    }
    state
}
