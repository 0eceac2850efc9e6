//! The store in memory, put to the contract.

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;

use super::{Restart, Subject, Task};
use crate::model::ids::WorkerId;
use crate::ports::Store;
use crate::testing::fakes::store::Shelf;

fn put_to<C: Future<Output = ()>>(check: impl FnOnce(Subject) -> C) {
    let shelf = Arc::new(Shelf::default());
    let worker = |number: u8| WorkerId::from_bytes([number; 16]);
    let (store, newest) = (shelf.clone(), Mutex::new(1));
    let restart: Restart = Arc::new(move || {
        let mut newest = newest.lock().unwrap();
        shelf.bury(worker(*newest));
        *newest += 1;
        let (store, next): (Arc<dyn Store>, _) = (shelf.clone(), worker(*newest));
        Box::pin(async move { (store, next) })
    });
    finish(check(Subject { store, worker: worker(1), crowd: in_threads, restart }));
}

/// Nothing in memory ever waits for anything but a lock.
fn finish(task: impl Future<Output = ()>) {
    let mut context = Context::from_waker(Waker::noop());
    assert_eq!(pin!(task).poll(&mut context), Poll::Ready(()));
}

fn in_threads(tasks: Vec<Task>) -> Task {
    Box::pin(async move {
        let threads: Vec<_> =
            tasks.into_iter().map(|task| thread::spawn(move || finish(task))).collect();
        for thread in threads {
            thread.join().expect("no task panics");
        }
    })
}

crate::store_contract!(put_to);
