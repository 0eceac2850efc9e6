//! The end of the day on a stopped clock.

use super::*;

const LIMITS: Limits = Limits {
    discovery_quota: 600,
    request: Duration::from_secs(30),
    paid_request: Duration::from_secs(60),
    body_bytes: 65_536,
    connections: 10,
    provider_calls: NonZero::<u16>::MIN,
};

#[tokio::test(start_paused = true)]
async fn nobody_left_is_no_reason_to_wait() {
    let begun = Instant::now();
    let left = drain(&LIMITS, &Semaphore::new(10), &Walks::new(), None).await;
    assert_eq!(left, Left { connections: 0, walks: 0, reconciler: Unfinished::No });
    assert_eq!(begun.elapsed().as_secs(), 0);
}

#[tokio::test(start_paused = true)]
async fn connections_and_walks_share_one_time_and_the_rest_is_counted() {
    let (places, walks) = (Semaphore::new(10), Walks::new());
    let _two = places.acquire_many(2).await.unwrap();
    walks.start(std::future::pending::<()>()).unwrap();
    let begun = Instant::now();
    let left = drain(&LIMITS, &places, &walks, None).await;
    assert_eq!(left, Left { connections: 2, walks: 1, reconciler: Unfinished::No });
    assert_eq!(begun.elapsed().as_secs(), 60);
}

#[tokio::test(start_paused = true)]
async fn a_request_under_way_may_still_start_its_walk() {
    let (places, walks) = (Arc::new(Semaphore::new(10)), Walks::new());
    let place = take_place(&places).await;
    let late = walks.clone();
    let request = tokio::spawn(async move {
        sleep(Duration::from_secs(20)).await;
        let started = late.start(sleep(Duration::from_secs(10))).is_ok();
        drop(place);
        started
    });
    let begun = Instant::now();
    let left = drain(&LIMITS, &places, &walks, None).await;
    assert_eq!(left, Left { connections: 0, walks: 0, reconciler: Unfinished::No });
    assert!(request.await.unwrap());
    assert_eq!(begun.elapsed().as_secs(), 30);
}
