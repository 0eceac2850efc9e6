//! std's bounded channel on shuttle's lock. shuttle's own keeps what is queued when the receiver is
//! dropped; std's drops it, and the writer's callers rely on that.

use std::collections::VecDeque;

use shuttle::sync::{Arc, Condvar, Mutex, MutexGuard};

pub struct SyncSender<T>(Arc<Channel<T>>);

pub struct Receiver<T>(Arc<Channel<T>>);

/// Nothing is queued, or no sender is left, or no receiver, or no room.
#[derive(Debug)]
pub struct Unavailable;

struct Channel<T> {
    queue: Mutex<Queue<T>>,
    changed: Condvar,
}

struct Queue<T> {
    waiting: VecDeque<T>,
    most: usize,
    has_sender: bool,
    has_receiver: bool,
}

pub fn sync_channel<T>(most: usize) -> (SyncSender<T>, Receiver<T>) {
    let queue = Queue { waiting: VecDeque::new(), most, has_sender: true, has_receiver: true };
    let channel = Arc::new(Channel { queue: Mutex::new(queue), changed: Condvar::new() });
    (SyncSender(channel.clone()), Receiver(channel))
}

impl<T> Channel<T> {
    fn queue(&self) -> MutexGuard<'_, Queue<T>> {
        self.queue.lock().expect("no task panics")
    }
}

impl<T> SyncSender<T> {
    pub fn try_send(&self, value: T) -> Result<(), Unavailable> {
        let mut queue = self.0.queue();
        if !queue.has_receiver || queue.waiting.len() >= queue.most {
            return Err(Unavailable);
        }
        queue.waiting.push_back(value);
        self.0.changed.notify_one();
        Ok(())
    }
}

impl<T> Receiver<T> {
    pub fn recv(&self) -> Result<T, Unavailable> {
        let mut queue = self.0.queue();
        loop {
            match queue.waiting.pop_front() {
                Some(value) => return Ok(value),
                None if !queue.has_sender => return Err(Unavailable),
                None => queue = self.0.changed.wait(queue).expect("no task panics"),
            }
        }
    }

    pub fn try_recv(&self) -> Result<T, Unavailable> {
        self.0.queue().waiting.pop_front().ok_or(Unavailable)
    }
}

impl<T> Drop for SyncSender<T> {
    fn drop(&mut self) {
        self.0.queue().has_sender = false;
        self.0.changed.notify_one();
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let dropped = {
            let mut queue = self.0.queue();
            queue.has_receiver = false;
            std::mem::take(&mut queue.waiting)
        };
        drop(dropped);
    }
}
