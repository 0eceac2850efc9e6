//! Walks, their callers who hang up, and the end of the day.

use std::sync::Mutex;

use axum::Router;
use axum::routing::post;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::sync::oneshot;

use super::*;

const SHORT: Duration = Duration::from_millis(100);
const LONG: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_walk_hands_its_result_to_the_caller_who_stayed() {
    let walks = Walks::new();
    assert_eq!(walks.start(async { 42 }).unwrap().await.unwrap(), 42);
    assert_eq!(walks.finish(LONG).await, 0);
}

#[tokio::test]
async fn a_walk_goes_on_when_its_caller_hangs_up() {
    let walks = Walks::new();
    let (go, gate) = oneshot::channel::<()>();
    let (arrived, arrival) = oneshot::channel();
    let handle = walks.start(async move {
        gate.await.unwrap();
        arrived.send("mailed").unwrap();
    });
    drop(handle);
    go.send(()).unwrap();
    assert_eq!(arrival.await.unwrap(), "mailed");
}

/// Over a real socket, where hanging up drops the handler in the middle.
#[tokio::test]
async fn a_walk_survives_the_connection_that_started_it() {
    let walks = Walks::new();
    let (started, start) = oneshot::channel();
    let (go, gate) = oneshot::channel::<()>();
    let (arrived, arrival) = oneshot::channel();
    let luggage = Arc::new(Mutex::new(Some((started, gate, arrived))));
    let (starter, dropped) = (walks.clone(), Arc::new(()));
    let witness = Arc::downgrade(&dropped);
    let handler = post(async move || {
        let _in_the_handler = dropped;
        let (started, gate, arrived) = luggage.lock().unwrap().take().unwrap();
        let walk = starter.start(async move {
            started.send(()).unwrap();
            gate.await.unwrap();
            arrived.send("mailed").unwrap();
        });
        walk.unwrap().await.unwrap();
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let shop =
        tokio::spawn(async { axum::serve(listener, Router::new().route("/", handler)).await });

    let mut caller = TcpStream::connect(address).await.unwrap();
    caller.write_all(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n").await.unwrap();
    start.await.unwrap();
    drop(caller);
    shop.abort();
    while witness.strong_count() > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    go.send(()).unwrap();
    assert_eq!(arrival.await.unwrap(), "mailed");
    assert_eq!(walks.finish(LONG).await, 0);
}

#[tokio::test(start_paused = true)]
async fn finish_waits_for_walks_under_way_and_no_longer() {
    let walks = Walks::new();
    walks.start(tokio::time::sleep(Duration::from_secs(7))).unwrap();
    let closed = tokio::time::Instant::now();
    assert_eq!(walks.finish(LONG).await, 0);
    assert_eq!(closed.elapsed().as_secs(), 7);
}

#[tokio::test(start_paused = true)]
async fn finish_counts_those_who_are_left() {
    let walks = Walks::new();
    for _ in 0..3 {
        walks.start(std::future::pending::<()>()).unwrap();
    }
    walks.start(async {}).unwrap();
    assert_eq!(walks.finish(SHORT).await, 3);
}

#[tokio::test]
async fn a_closed_door_takes_no_new_walks() {
    let walks = Walks::new();
    let clone = walks.clone();
    assert_eq!(walks.finish(SHORT).await, 0);
    assert_eq!(clone.start(async {}).unwrap_err(), NoWalk::Closing);
}

#[tokio::test]
async fn a_walk_that_panics_is_not_waited_for() {
    let walks = Walks::new();
    let handle = walks.start(async { panic!("on purpose") }).unwrap();
    assert!(handle.await.unwrap_err().is_panic());
    assert_eq!(walks.finish(LONG).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_walk_slips_in_after_the_count() {
    for _ in 0..200 {
        let walks = Walks::new();
        let starter = walks.clone();
        let (arrived, arrival) = oneshot::channel();
        let start = tokio::spawn(async move { starter.start(async { arrived.send(()) }) });
        let left = walks.finish(LONG).await;
        assert_eq!(left, 0);
        // Either it was refused, or it was over before finish came back.
        match start.await.unwrap() {
            Ok(handle) => assert!(handle.await.is_ok() && arrival.await.is_ok()),
            Err(_) => assert!(arrival.await.is_err()),
        }
        assert_eq!(walks.tally.borrow().under_way, 0);
    }
}

#[tokio::test]
async fn no_more_walk_at_once_than_the_house_can_bear() {
    let walks = Walks::new();
    let gate = Arc::new(Semaphore::new(0));
    let through = |gate: Arc<Semaphore>| async move { gate.acquire().await.map(drop) };
    for _ in 0..WALKS_MAX {
        drop(walks.start(through(gate.clone())).unwrap());
    }
    assert_eq!(walks.start(async {}).unwrap_err(), NoWalk::Crowded);
    gate.close();
    assert_eq!(walks.finish(Duration::from_secs(60)).await, 0);
}
