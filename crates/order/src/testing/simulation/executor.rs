//! Runs tasks on simulated time, in a random sequence that the seed reproduces.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};

use crate::testing::fakes::fault_schedule::SeededRng;

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Tasks that end together when their process is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskGroup(pub u64);

/// What tasks share with the executor that runs them.
#[derive(Default)]
pub struct ExecutorHandle {
    milliseconds: AtomicU64,
    queues: Mutex<Queues>,
}

#[derive(Default)]
struct Queues {
    ready: Vec<u64>,
    timers: BinaryHeap<Reverse<(u64, u64)>>,
    sleeping: BTreeMap<u64, Waker>,
    spawned: Vec<(TaskGroup, Task)>,
    killed: Vec<TaskGroup>,
    next: u64,
}

impl ExecutorHandle {
    /// Milliseconds since the start.
    pub fn elapsed(&self) -> u64 {
        self.milliseconds.load(Ordering::Relaxed)
    }

    pub fn spawn(&self, group: TaskGroup, task: impl Future<Output = ()> + Send + 'static) {
        self.queues().spawned.push((group, Box::pin(task)));
    }

    /// Drops every task of a group as soon as the current task yields.
    pub fn kill(&self, group: TaskGroup) {
        self.queues().killed.push(group);
    }

    pub async fn sleep(&self, milliseconds: u64) {
        let ticket = {
            let mut queues = self.queues();
            queues.next += 1;
            let ticket = queues.next;
            queues.timers.push(Reverse((self.elapsed() + milliseconds, ticket)));
            ticket
        };
        let mut begun = false;
        poll_fn(move |context| {
            let mut queues = self.queues();
            if begun && !queues.sleeping.contains_key(&ticket) {
                return Poll::Ready(());
            }
            begun = true;
            queues.sleeping.insert(ticket, context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn queues(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap()
    }
}

struct TaskWaker {
    handle: Arc<ExecutorHandle>,
    task: u64,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        let mut queues = self.handle.queues();
        if !queues.ready.contains(&self.task) {
            queues.ready.push(self.task);
        }
    }
}

/// Runs the tasks of one scenario.
pub struct Executor {
    pub handle: Arc<ExecutorHandle>,
    tasks: BTreeMap<u64, (TaskGroup, Task, Waker)>,
    rng: SeededRng,
    count: u64,
}

impl Executor {
    pub fn new(handle: Arc<ExecutorHandle>, rng: SeededRng) -> Self {
        Self { handle, tasks: BTreeMap::new(), rng, count: 0 }
    }

    /// Runs until `until` milliseconds, or until no task is ready or sleeping.
    /// `after` is called with the group of each task that has just run.
    pub fn run(&mut self, until: u64, mut after: impl FnMut(TaskGroup)) {
        loop {
            self.update_tasks();
            let ready = self.next_ready();
            if let Some(id) = ready {
                if let Some((group, task, waker)) = self.tasks.get_mut(&id) {
                    let group = *group;
                    let done = task.as_mut().poll(&mut Context::from_waker(waker)).is_ready();
                    if done {
                        self.tasks.remove(&id);
                    }
                    after(group);
                }
            } else if !self.advance(until) {
                return;
            }
        }
    }

    fn update_tasks(&mut self) {
        let (spawned, killed) = {
            let mut queues = self.handle.queues();
            (std::mem::take(&mut queues.spawned), std::mem::take(&mut queues.killed))
        };
        for (group, task) in spawned {
            self.count += 1;
            let waker = TaskWaker { handle: self.handle.clone(), task: self.count };
            self.tasks.insert(self.count, (group, task, Waker::from(Arc::new(waker))));
            self.handle.queues().ready.push(self.count);
        }
        if !killed.is_empty() {
            // What a task drops may wake others, so nothing is locked here.
            self.tasks.retain(|_, (group, _, _)| !killed.contains(group));
        }
    }

    fn next_ready(&mut self) -> Option<u64> {
        let mut queues = self.handle.queues();
        let count = u64::try_from(queues.ready.len()).expect("a length fits 64 bits");
        let place = match count {
            0 => return None,
            1 => 0,
            _ => usize::try_from(self.rng.below(count)).expect("below a length"),
        };
        Some(queues.ready.swap_remove(place))
    }

    /// Advances time to the next timer.
    fn advance(&mut self, until: u64) -> bool {
        let waker = {
            let mut queues = self.handle.queues();
            let Some(Reverse((at, ticket))) = queues.timers.peek().copied() else { return false };
            if at > until {
                self.handle.milliseconds.store(until, Ordering::Relaxed);
                return false;
            }
            queues.timers.pop();
            self.handle.milliseconds.store(at, Ordering::Relaxed);
            queues.sleeping.remove(&ticket)
        };
        // Not under the lock: the waker takes it.
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }
}
