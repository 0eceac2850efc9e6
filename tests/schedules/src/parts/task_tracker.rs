//! Paid tasks: after the shutdown has counted none, none runs and none starts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use shuttle::future::{block_on, spawn, yield_now};

use crate::explore::saw;
use crate::sources::task_tracker::{SpawnError, TaskTracker};
use crate::stand_ins::random;

pub const KINDS: &[&str] = &[
    "tasks that ran",
    "tasks rejected by the shutdown",
    "shutdowns that waited",
    "shutdowns at their time limit",
];

pub fn run() {
    let tracker = TaskTracker::new();
    let (running, is_over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let requests: Vec<_> = (0..3)
        .map(|_| {
            let (tracker, running, is_over) = (tracker.clone(), running.clone(), is_over.clone());
            spawn(async move { request(&tracker, running, is_over).await })
        })
        .collect();
    let time_limit = Duration::from_secs(u64::from(random(4) > 0));
    block_on(async {
        for _ in 0..random(6) {
            yield_now().await;
        }
        if running.load(Ordering::Relaxed) > 0 {
            saw(KINDS[2]);
        }
        let left = tracker.shutdown(time_limit).await;
        if left == 0 {
            // From here on a task would be cut off by the end of the process.
            is_over.store(true, Ordering::Relaxed);
            assert_eq!(running.load(Ordering::Relaxed), 0, "a task runs that was not counted");
        } else {
            assert!(time_limit.is_zero(), "the shutdown did not wait for {left} tasks");
            saw(KINDS[3]);
        }
        for request in requests {
            request.await.expect("it does not panic");
        }
        let time_limit = Duration::from_secs(1);
        assert_eq!(tracker.shutdown(time_limit).await, 0, "an ended task is still counted");
    });
}

async fn request(tracker: &TaskTracker, running: Arc<AtomicUsize>, is_over: Arc<AtomicBool>) {
    let task = async move {
        assert!(!is_over.load(Ordering::Relaxed), "a task starts after the shutdown");
        running.fetch_add(1, Ordering::Relaxed);
        for _ in 0..random(3) {
            yield_now().await;
        }
        running.fetch_sub(1, Ordering::Relaxed);
        saw(KINDS[0]);
    };
    match tracker.spawn(task) {
        Ok(handle) if random(2) == 0 => handle.await.expect("it does not panic"),
        // The client has disconnected.
        Ok(handle) => drop(handle),
        Err(error) => {
            assert_eq!(error, SpawnError::ShuttingDown);
            saw(KINDS[1]);
        }
    }
}
