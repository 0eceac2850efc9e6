//! Single flight: of all requests for one key one runs at a time, and none waits in vain.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use shuttle::future::{block_on, spawn, yield_now};

use crate::explore::saw;
use crate::sources::single_flight::SingleFlight;
use crate::stand_ins::random;

pub const KINDS: &[&str] = &[
    "turns",
    "requests that waited",
    "requests whose time ran out",
    "requests refused by a full queue",
];

/// Four requests for two keys. A request that waits in vain is a deadlock, which shuttle reports.
pub fn run() {
    let single_flight = Arc::new(SingleFlight::<u64>::default());
    let running = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let requests: Vec<_> = (0..4)
        .map(|_| {
            let (single_flight, running) = (single_flight.clone(), running.clone());
            // Three of four use the same key.
            let key = u64::from(random(4) == 0);
            spawn(async move { request(&single_flight, &running, key).await })
        })
        .collect();
    block_on(async {
        for request in requests {
            request.await.expect("it does not panic");
        }
    });
    assert!(single_flight.is_empty(), "nothing is kept of requests that have ended");
}

async fn request(single_flight: &SingleFlight<u64>, running: &[AtomicUsize; 2], key: u64) {
    let place = usize::from(key == 1);
    let was_taken = running[place].load(Ordering::Relaxed) > 0;
    // One of four gives up, after a few steps of the others.
    let patience = (random(4) == 0).then(|| random(6));
    let turn = single_flight.turn(key, time_limit(patience)).await;
    let Some(turn) = turn else {
        saw(if patience.is_some() { KINDS[2] } else { KINDS[3] });
        return;
    };
    saw(KINDS[0]);
    if was_taken {
        saw(KINDS[1]);
    }
    assert_eq!(running[place].fetch_add(1, Ordering::Relaxed), 0, "two requests run at once");
    for _ in 0..random(3) {
        yield_now().await;
    }
    running[place].fetch_sub(1, Ordering::Relaxed);
    drop(turn);
}

async fn time_limit(steps: Option<u64>) {
    let Some(steps) = steps else { return std::future::pending().await };
    for _ in 0..steps {
        yield_now().await;
    }
}
