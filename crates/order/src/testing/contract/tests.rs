//! Runs the store contract against the in-memory store.

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;

use super::{RestartStore, StoreTask, StoreUnderTest};
use crate::model::ids::WorkerId;
use crate::ports::Store;
use crate::testing::fakes::store::FakeStore;

fn run_check<C: Future<Output = ()>>(check: impl FnOnce(StoreUnderTest) -> C) {
    let fake = Arc::new(FakeStore::default());
    let worker = |number: u8| WorkerId::from_bytes([number; 16]);
    let (store, newest) = (fake.clone(), Mutex::new(1));
    let restart: RestartStore = Arc::new(move || {
        let mut newest = newest.lock().unwrap();
        fake.mark_dead(worker(*newest));
        *newest += 1;
        let (store, next): (Arc<dyn Store>, _) = (fake.clone(), worker(*newest));
        Box::pin(async move { (store, next) })
    });
    finish(check(StoreUnderTest {
        store,
        worker: worker(1),
        run_concurrently: in_threads,
        restart,
    }));
}

/// The in-memory store never waits for anything but a lock.
fn finish(task: impl Future<Output = ()>) {
    let mut context = Context::from_waker(Waker::noop());
    assert_eq!(pin!(task).poll(&mut context), Poll::Ready(()));
}

fn in_threads(tasks: Vec<StoreTask>) -> StoreTask {
    Box::pin(async move {
        let threads: Vec<_> =
            tasks.into_iter().map(|task| thread::spawn(move || finish(task))).collect();
        for thread in threads {
            thread.join().expect("no task panics");
        }
    })
}

crate::store_contract!(run_check);
