//! Results, disconnects, limits and shutdown of tracked tasks.

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
async fn a_task_returns_its_result_through_the_handle() {
    let tracker = TaskTracker::new();
    assert_eq!(tracker.spawn(async { 42 }).unwrap().await.unwrap(), 42);
    assert_eq!(tracker.shutdown(LONG).await, 0);
}

#[tokio::test]
async fn a_task_continues_after_its_handle_is_dropped() {
    let tracker = TaskTracker::new();
    let (go, gate) = oneshot::channel::<()>();
    let (arrived, arrival) = oneshot::channel();
    let handle = tracker.spawn(async move {
        gate.await.unwrap();
        arrived.send("mailed").unwrap();
    });
    drop(handle);
    go.send(()).unwrap();
    assert_eq!(arrival.await.unwrap(), "mailed");
}

/// Over a real socket: a disconnect drops the handler while it runs.
#[tokio::test]
async fn a_task_continues_after_its_connection_is_closed() {
    let tracker = TaskTracker::new();
    let (started, start) = oneshot::channel();
    let (go, gate) = oneshot::channel::<()>();
    let (arrived, arrival) = oneshot::channel();
    let channels = Arc::new(Mutex::new(Some((started, gate, arrived))));
    let (starter, dropped) = (tracker.clone(), Arc::new(()));
    let witness = Arc::downgrade(&dropped);
    let handler = post(async move || {
        let _in_the_handler = dropped;
        let (started, gate, arrived) = channels.lock().unwrap().take().unwrap();
        let task = starter.spawn(async move {
            started.send(()).unwrap();
            gate.await.unwrap();
            arrived.send("mailed").unwrap();
        });
        task.unwrap().await.unwrap();
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server =
        tokio::spawn(async { axum::serve(listener, Router::new().route("/", handler)).await });

    let mut caller = TcpStream::connect(address).await.unwrap();
    caller.write_all(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n").await.unwrap();
    start.await.unwrap();
    drop(caller);
    server.abort();
    while witness.strong_count() > 0 {
        tokio::task::yield_now().await;
    }
    go.send(()).unwrap();
    assert_eq!(arrival.await.unwrap(), "mailed");
    assert_eq!(tracker.shutdown(LONG).await, 0);
}

#[tokio::test(start_paused = true)]
async fn shutdown_waits_for_running_tasks_and_no_longer() {
    let tracker = TaskTracker::new();
    tracker.spawn(tokio::time::sleep(Duration::from_secs(7))).unwrap();
    let closed = tokio::time::Instant::now();
    assert_eq!(tracker.shutdown(LONG).await, 0);
    assert_eq!(closed.elapsed().as_secs(), 7);
}

#[tokio::test(start_paused = true)]
async fn shutdown_returns_the_number_of_tasks_still_running() {
    let tracker = TaskTracker::new();
    for _ in 0..3 {
        tracker.spawn(std::future::pending::<()>()).unwrap();
    }
    tracker.spawn(async {}).unwrap();
    assert_eq!(tracker.shutdown(SHORT).await, 3);
}

#[tokio::test]
async fn no_task_starts_after_shutdown() {
    let tracker = TaskTracker::new();
    let clone = tracker.clone();
    assert_eq!(tracker.shutdown(SHORT).await, 0);
    assert_eq!(clone.spawn(async {}).unwrap_err(), SpawnError::ShuttingDown);
}

#[tokio::test]
async fn shutdown_does_not_wait_for_a_task_that_panicked() {
    let tracker = TaskTracker::new();
    let handle = tracker.spawn(async { panic!("on purpose") }).unwrap();
    assert!(handle.await.unwrap_err().is_panic());
    assert_eq!(tracker.shutdown(LONG).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_task_starts_after_shutdown_has_counted() {
    for _ in 0..200 {
        let tracker = TaskTracker::new();
        let starter = tracker.clone();
        let (arrived, arrival) = oneshot::channel();
        let start = tokio::spawn(async move { starter.spawn(async { arrived.send(()) }) });
        let left = tracker.shutdown(LONG).await;
        assert_eq!(left, 0);
        // Either it was rejected, or it ended before shutdown returned.
        match start.await.unwrap() {
            Ok(handle) => assert!(handle.await.is_ok() && arrival.await.is_ok()),
            Err(_) => assert!(arrival.await.is_err()),
        }
        assert_eq!(tracker.state.borrow().running, 0);
    }
}

#[tokio::test]
async fn no_more_tasks_run_at_once_than_the_limit() {
    let tracker = TaskTracker::new();
    let gate = Arc::new(Semaphore::new(0));
    let through = |gate: Arc<Semaphore>| async move { gate.acquire().await.map(drop) };
    for _ in 0..TASKS_MAX {
        drop(tracker.spawn(through(gate.clone())).unwrap());
    }
    assert_eq!(tracker.spawn(async {}).unwrap_err(), SpawnError::TooManyTasks);
    gate.close();
    assert_eq!(tracker.shutdown(Duration::from_secs(60)).await, 0);
}
