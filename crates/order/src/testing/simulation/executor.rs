//! Runs tasks on simulated time, in a sequence that the dice decide and a seed repeats.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};

use crate::testing::fakes::fates::Dice;

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Tasks that end together when their process is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group(pub u64);

/// What tasks share with the executor that runs them.
#[derive(Default)]
pub struct Stage {
    milliseconds: AtomicU64,
    cast: Mutex<Cast>,
}

#[derive(Default)]
struct Cast {
    ready: Vec<u64>,
    timers: BinaryHeap<Reverse<(u64, u64)>>,
    sleepers: BTreeMap<u64, Waker>,
    born: Vec<(Group, Task)>,
    killed: Vec<Group>,
    next: u64,
}

impl Stage {
    /// Milliseconds since the story began.
    pub fn elapsed(&self) -> u64 {
        self.milliseconds.load(Ordering::Relaxed)
    }

    pub fn spawn(&self, group: Group, task: impl Future<Output = ()> + Send + 'static) {
        self.cast().born.push((group, Box::pin(task)));
    }

    /// Ends every task of a group, wherever it is, as soon as the one that
    /// runs now gives way.
    pub fn kill(&self, group: Group) {
        self.cast().killed.push(group);
    }

    pub async fn sleep(&self, milliseconds: u64) {
        let ticket = {
            let mut cast = self.cast();
            cast.next += 1;
            let ticket = cast.next;
            cast.timers.push(Reverse((self.elapsed() + milliseconds, ticket)));
            ticket
        };
        let mut begun = false;
        poll_fn(move |context| {
            let mut cast = self.cast();
            if begun && !cast.sleepers.contains_key(&ticket) {
                return Poll::Ready(());
            }
            begun = true;
            cast.sleepers.insert(ticket, context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn cast(&self) -> MutexGuard<'_, Cast> {
        self.cast.lock().unwrap()
    }
}

struct Alarm {
    stage: Arc<Stage>,
    task: u64,
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        let mut cast = self.stage.cast();
        if !cast.ready.contains(&self.task) {
            cast.ready.push(self.task);
        }
    }
}

/// Drives the tasks of one story.
pub struct Executor {
    pub stage: Arc<Stage>,
    tasks: BTreeMap<u64, (Group, Task, Waker)>,
    dice: Dice,
    count: u64,
}

impl Executor {
    pub fn new(stage: Arc<Stage>, dice: Dice) -> Self {
        Self { stage, tasks: BTreeMap::new(), dice, count: 0 }
    }

    /// Runs until `until` milliseconds, or until nobody has anything to do.
    /// `after` is called with the group of each task that has just run.
    pub fn run(&mut self, until: u64, mut after: impl FnMut(Group)) {
        loop {
            self.adopt();
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

    fn adopt(&mut self) {
        let (born, killed) = {
            let mut cast = self.stage.cast();
            (std::mem::take(&mut cast.born), std::mem::take(&mut cast.killed))
        };
        for (group, task) in born {
            self.count += 1;
            let alarm = Alarm { stage: self.stage.clone(), task: self.count };
            self.tasks.insert(self.count, (group, task, Waker::from(Arc::new(alarm))));
            self.stage.cast().ready.push(self.count);
        }
        if !killed.is_empty() {
            // What a task drops may wake others, so nothing is locked here.
            self.tasks.retain(|_, (group, _, _)| !killed.contains(group));
        }
    }

    fn next_ready(&mut self) -> Option<u64> {
        let mut cast = self.stage.cast();
        let count = u64::try_from(cast.ready.len()).expect("a length fits 64 bits");
        let place = match count {
            0 => return None,
            1 => 0,
            _ => usize::try_from(self.dice.below(count)).expect("below a length"),
        };
        Some(cast.ready.swap_remove(place))
    }

    /// Lets time pass until the next sleeper wakes.
    fn advance(&mut self, until: u64) -> bool {
        let waker = {
            let mut cast = self.stage.cast();
            let Some(Reverse((at, ticket))) = cast.timers.peek().copied() else { return false };
            if at > until {
                self.stage.milliseconds.store(until, Ordering::Relaxed);
                return false;
            }
            cast.timers.pop();
            self.stage.milliseconds.store(at, Ordering::Relaxed);
            cast.sleepers.remove(&ticket)
        };
        // Outside of the lock: an alarm takes it.
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }
}
