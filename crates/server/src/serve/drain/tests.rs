//! The shutdown on a paused clock.

use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use super::super::accept::take_permit;
use super::*;

const LIMITS: LimitsConfig = LimitsConfig {
    discovery_quota: 600,
    request: Duration::from_secs(30),
    paid_request: Duration::from_secs(60),
    body_bytes: 65_536,
    connections: 10,
    provider_calls: NonZero::<u16>::MIN,
};

fn unfinished(connections: usize, paid_requests: usize) -> Unfinished {
    Unfinished { connections, paid_requests, reconciler: ReconcilerEnd::Finished }
}

#[tokio::test(start_paused = true)]
async fn without_open_work_the_shutdown_does_not_wait() {
    let begun = Instant::now();
    let left = drain(&LIMITS, &Semaphore::new(10), &TaskTracker::new(), None).await;
    assert_eq!(left, unfinished(0, 0));
    assert_eq!(begun.elapsed().as_secs(), 0);
}

#[tokio::test(start_paused = true)]
async fn connections_and_paid_requests_share_one_timeout_and_the_rest_is_counted() {
    let (permits, tasks) = (Semaphore::new(10), TaskTracker::new());
    let _two = permits.acquire_many(2).await.unwrap();
    tasks.spawn(std::future::pending::<()>()).unwrap();
    let begun = Instant::now();
    let left = drain(&LIMITS, &permits, &tasks, None).await;
    assert_eq!(left, unfinished(2, 1));
    assert_eq!(begun.elapsed().as_secs(), 60);
}

#[tokio::test(start_paused = true)]
async fn a_received_request_may_still_start_its_paid_part() {
    let (permits, tasks) = (Arc::new(Semaphore::new(10)), TaskTracker::new());
    let permit = take_permit(&permits).await;
    let late = tasks.clone();
    let request = tokio::spawn(async move {
        sleep(Duration::from_secs(20)).await;
        let started = late.spawn(sleep(Duration::from_secs(10))).is_ok();
        drop(permit);
        started
    });
    let begun = Instant::now();
    let left = drain(&LIMITS, &permits, &tasks, None).await;
    assert_eq!(left, unfinished(0, 0));
    assert!(request.await.unwrap());
    assert_eq!(begun.elapsed().as_secs(), 30);
}
