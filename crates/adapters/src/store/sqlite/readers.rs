//! The threads that read, each with its own connection.
//!
//! A reader takes several questions at once and answers them from one snapshot:
//! that is half the system calls of one snapshot each, and one waking of the
//! thread instead of many.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use order::ports::StoreError;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::oneshot;

use super::connection::{connect, run, trouble};
use crate::store::OpenError;

/// Point reads come from memory most of the time; two keep both of our cores
/// busy, and one slow answer from the disk does not hold up the next.
const READERS: usize = 2;
/// So few that no answer waits long for its neighbours.
const QUESTIONS_AT_ONCE: usize = 32;
/// About a tenth of a second's worth. Beyond that it is kinder to say no.
const QUESTIONS_MAX: usize = 8_192;

type Question = Box<dyn FnOnce(&Connection) + Send>;

pub(super) struct Readers {
    desk: Arc<Desk>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Default)]
struct Desk {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
}

#[derive(Default)]
struct Waiting {
    questions: VecDeque<Question>,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Open,
    Closed,
}

impl Readers {
    pub(super) fn start(path: &Path) -> Result<Self, OpenError> {
        let readers = Self { desk: Arc::default(), threads: Mutex::default() };
        for _ in 0..READERS {
            let database = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
                .map_err(|cause| OpenError::Sqlite { path: path.to_owned(), cause })?;
            let desk = Arc::clone(&readers.desk);
            let thread = std::thread::Builder::new()
                .name("sqlite reader".into())
                .spawn(move || desk.serve(&database))
                .map_err(|cause| OpenError::File { path: path.to_owned(), cause })?;
            readers.threads().push(thread);
        }
        Ok(readers)
    }

    /// Answers what was asked, and returns when no connection is open any more.
    pub(super) async fn close(&self) {
        self.desk.close();
        let threads = std::mem::take(&mut *self.threads());
        let ended = tokio::task::spawn_blocking(|| {
            for thread in threads {
                let _ = thread.join();
            }
        });
        let _ = ended.await;
    }

    fn threads(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        self.desk.put(Box::new(move |database| {
            // Whoever asked may have gone home meanwhile.
            let _ = answer.send(question(database));
        }))?;
        answered.await.unwrap_or(Err(StoreError::Busy))
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.desk.close();
    }
}

impl Desk {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, question: Question) -> Result<(), StoreError> {
        let mut waiting = self.waiting();
        if waiting.questions.len() >= QUESTIONS_MAX || waiting.phase == Phase::Closed {
            return Err(StoreError::Busy);
        }
        waiting.questions.push_back(question);
        drop(waiting);
        self.arrived.notify_one();
        Ok(())
    }

    fn close(&self) {
        self.waiting().phase = Phase::Closed;
        self.arrived.notify_all();
    }

    fn serve(&self, database: &Connection) {
        while let Some(questions) = self.take() {
            // One snapshot for all of them, taken after the last one was asked.
            // Without it each takes its own, which is as right.
            let begun = run(database, "BEGIN");
            for question in questions {
                question(database);
            }
            if let Err(error) = begun.and_then(|()| run(database, "COMMIT")) {
                trouble(&error);
            }
        }
    }

    fn take(&self) -> Option<Vec<Question>> {
        let idle =
            |waiting: &mut Waiting| waiting.questions.is_empty() && waiting.phase == Phase::Open;
        let waiting = self.arrived.wait_while(self.waiting(), idle);
        let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
        let count = waiting.questions.len().min(QUESTIONS_AT_ONCE);
        (count > 0).then(|| waiting.questions.drain(..count).collect())
    }
}
