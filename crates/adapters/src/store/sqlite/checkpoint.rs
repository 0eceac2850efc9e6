//! Checkpoints of the write-ahead log, outside of commits.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::connection::{connect, store_error};
use crate::store::OpenError;

/// Often enough that a checkpoint is short, seldom enough that its syncs do not delay commits.
const PAUSE: Duration = Duration::from_millis(500);
/// 32 MiB of pages: as long as every pass is overtaken by new commits, the log
/// grows, and at this size the writer itself makes the last step.
const LOG_PAGES_MAX: i64 = 8_192;

/// The thread that copies the log into the database file while others write.
pub(super) struct Checkpoints {
    shared: Arc<Shared>,
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

#[derive(Default)]
struct Shared {
    written: AtomicBool,
    log_pages: AtomicI64,
}

/// What a checkpoint is to leave of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogSize {
    /// Whatever others still write or read.
    AsItIs,
    Empty,
}

impl Checkpoints {
    pub(super) fn start(path: &Path) -> Result<Self, OpenError> {
        let fault = |cause| OpenError::Sqlite { path: path.to_owned(), cause };
        let database = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(fault)?;
        let shared = Arc::new(Shared::default());
        let (stop, stopped) = channel::<()>();
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("sqlite checkpoint".into())
            .spawn(move || {
                while stopped.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                    if theirs.written.swap(false, Ordering::AcqRel) {
                        let pages = LogSize::AsItIs.reach(&database);
                        theirs.log_pages.store(pages, Ordering::Release);
                    }
                }
            })
            .map_err(|cause| OpenError::File { path: path.to_owned(), cause })?;
        Ok(Self { shared, running: Some((stop, thread)) })
    }

    /// Called by the writer after each commit.
    pub(super) fn keep_small(&self, database: &Connection) {
        self.shared.written.store(true, Ordering::Release);
        if self.shared.log_pages.load(Ordering::Acquire) > LOG_PAGES_MAX {
            // The thread has copied all but what came since its last pass, and
            // nothing is added while we copy that: the next commit starts the
            // log over.
            LogSize::AsItIs.reach(database);
            self.shared.log_pages.store(0, Ordering::Release);
        }
    }

    pub(super) fn stop(&mut self) {
        if let Some((stop, thread)) = self.running.take() {
            drop(stop);
            let _ = thread.join();
        }
    }
}

impl LogSize {
    /// Makes a checkpoint and says how many pages the log holds.
    pub(super) fn reach(self, database: &Connection) -> i64 {
        let checkpoint = match self {
            Self::AsItIs => "PRAGMA wal_checkpoint(PASSIVE)",
            Self::Empty => "PRAGMA wal_checkpoint(TRUNCATE)",
        };
        let pages = database.query_row(checkpoint, [], |row| row.get::<_, i64>(1));
        pages.unwrap_or_else(|error| {
            store_error(&error);
            0
        })
    }
}
