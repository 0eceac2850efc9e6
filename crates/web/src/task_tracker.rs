//! Runs paid work in its own tasks, so that it continues after the client disconnects.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// The paid tasks of this process. Clones share one count.
#[derive(Clone)]
pub struct TaskTracker {
    state: Arc<watch::Sender<TrackerState>>,
}

/// The most tasks that may run at once. They outlive their connections, so no other limit
/// applies to a client that keeps disconnecting. Each takes a few kilobytes.
const TASKS_MAX: usize = 32_768;

/// Why a task was not started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpawnError {
    ShuttingDown,
    TooManyTasks,
}

#[derive(Clone, Copy)]
struct TrackerState {
    intake: Intake,
    running: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Intake {
    Open,
    Closed,
}

impl TaskTracker {
    pub fn new() -> Self {
        let (state, _) = watch::channel(TrackerState { intake: Intake::Open, running: 0 });
        Self { state: Arc::new(state) }
    }

    /// Starts a task that runs to its end: dropping the handle does not stop it.
    pub fn spawn<T>(&self, task: T) -> Result<JoinHandle<T::Output>, SpawnError>
    where
        T: Future + Send + 'static,
        T::Output: Send + 'static,
    {
        let running = self.admit()?;
        Ok(tokio::spawn(async move {
            let _running = running;
            task.await
        }))
    }

    /// Rejects new tasks, waits for the running ones, and returns how many are still running
    /// at the time limit.
    pub async fn shutdown(&self, time_limit: Duration) -> usize {
        self.state.send_modify(|state| state.intake = Intake::Closed);
        let mut state = self.state.subscribe();
        let all_ended = state.wait_for(|state| state.running == 0);
        // The count below shows whether all ended or the time ran out.
        let _ = timeout(time_limit, all_ended).await;
        self.state.borrow().running
    }

    /// Checks and counts in one step, so that no task starts after `shutdown` has counted none.
    fn admit(&self) -> Result<RunningTask, SpawnError> {
        let mut admitted = Err(SpawnError::ShuttingDown);
        self.state.send_if_modified(|state| {
            admitted = match state.intake {
                Intake::Open if state.running < TASKS_MAX => Ok(()),
                Intake::Open => Err(SpawnError::TooManyTasks),
                Intake::Closed => Err(SpawnError::ShuttingDown),
            };
            state.running += usize::from(admitted.is_ok());
            admitted.is_ok()
        });
        admitted.map(|()| RunningTask(self.clone()))
    }
}

impl Default for TaskTracker {
    fn default() -> Self {
        Self::new()
    }
}

/// One task in the count. It is dropped when the task ends or panics.
struct RunningTask(TaskTracker);

impl Drop for RunningTask {
    fn drop(&mut self) {
        self.0.state.send_modify(|state| state.running -= 1);
    }
}

#[cfg(test)]
mod tests;
