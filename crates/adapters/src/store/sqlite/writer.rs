//! The writer thread: many commands, one commit.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use order::model::ids::Timestamp;
use order::ports::StoreError;
use rusqlite::Connection;
use tokio::sync::{Semaphore, oneshot};

use super::apply::{self, Reply, SyncMode};
use super::checkpoint::{Checkpoints, LogSize};
use super::command::{Answer, Claim, Claimed, Command, DurableWrite, OrderWrite, RowsToDrop};
use super::connection::{OpenedDatabase, run, store_error};
use crate::store::OpenError;
use crate::store::rows::Row;

/// More than one commit takes, and less than a second of load.
const COMMANDS_MAX: usize = 4_096;
/// Of these, new identifiers of callers who have not paid. The rest is kept for paid orders.
const OFFERS_WAITING_MAX: usize = 1_024;
/// Commands in one commit. More would save nothing and delay the first one.
const WRITES_AT_ONCE: usize = 512;
/// How long to wait for the next command if the last commit had many. Callers that were just
/// answered are likely to send again, and a commit for the first of them alone would delay all
/// others by one more sync.
const BATCH_WAIT: Duration = Duration::from_micros(150);
/// After a commit that failed, before the next one.
const RECOVERY: Duration = Duration::from_millis(100);

/// The handle of the writer thread.
pub(super) struct Writer {
    commands: SyncSender<Command>,
    offers: Semaphore,
}

impl Writer {
    pub(super) fn start(path: &Path, opened: OpenedDatabase) -> Result<Self, OpenError> {
        let checkpoints = Checkpoints::start(path)?;
        let (commands, waiting) = sync_channel(COMMANDS_MAX);
        let thread = WriterThread { opened, checkpoints, syncing: SyncMode::Always, expected: 0 };
        std::thread::Builder::new()
            .name("sqlite writer".into())
            .spawn(move || thread.work(&waiting))
            .map_err(|cause| OpenError::File { path: path.to_owned(), cause })?;
        Ok(Self { commands, offers: Semaphore::new(OFFERS_WAITING_MAX) })
    }

    pub(super) async fn record(&self, next: OrderWrite) -> Result<(), StoreError> {
        self.send(|answer| Command::Record(Box::new(next), answer)).await
    }

    /// Writes an offer, unless there is an order of that id, and returns what is there.
    pub(super) async fn offer(&self, row: Row) -> Result<Row, StoreError> {
        let _waiting = self.offers.try_acquire().map_err(|_| StoreError::Lost)?;
        self.send(|answer| Command::Offer(Box::new(row), answer)).await
    }

    pub(super) async fn claim(&self, claim: Claim) -> Result<Claimed, StoreError> {
        self.send(|answer| Command::Claim(Box::new(claim), answer)).await
    }

    pub(super) async fn lapse(&self, now: Timestamp, most: u64) -> Result<u64, StoreError> {
        self.send(|answer| Command::Lapse { now, most, answer }).await
    }

    pub(super) async fn drop_rows(&self, which: RowsToDrop, most: u64) -> Result<u64, StoreError> {
        self.send(|answer| Command::Drop { which, most, answer }).await
    }

    pub(super) async fn write(&self, write: DurableWrite) -> Result<(), StoreError> {
        self.send(|answer| Command::Write(write, answer)).await
    }

    pub(super) async fn ping(&self) -> Result<(), StoreError> {
        self.send(Command::Ping).await
    }

    pub(super) async fn close(&self) -> Result<(), StoreError> {
        self.send(Command::Close).await
    }

    async fn send<T>(&self, command: impl FnOnce(Answer<T>) -> Command) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        self.commands.try_send(command(answer)).map_err(|_| StoreError::Lost)?;
        answered.await.unwrap_or(Err(StoreError::Lost))
    }
}

/// The state of the thread.
struct WriterThread {
    opened: OpenedDatabase,
    checkpoints: Checkpoints,
    syncing: SyncMode,
    /// How many commands are likely to arrive together: half of the last batch.
    expected: usize,
}

/// The commands of one commit.
#[derive(Default)]
struct Batch {
    commands: Vec<Command>,
    closing: Option<Closing>,
}

/// The store is closing, and a caller may wait for it.
enum Closing {
    Asked(Answer<()>),
    Abandoned,
}

impl Batch {
    fn add(&mut self, command: Command) {
        match command {
            Command::Close(answer) => self.closing = Some(Closing::Asked(answer)),
            Command::Record(..)
            | Command::Offer(..)
            | Command::Claim(..)
            | Command::Lapse { .. }
            | Command::Drop { .. }
            | Command::Write(..)
            | Command::Ping(_) => self.commands.push(command),
        }
    }
}

impl WriterThread {
    fn work(mut self, waiting: &Receiver<Command>) {
        loop {
            let batch = self.gather(waiting);
            let written = self.write(batch.commands);
            if let Some(closing) = batch.closing {
                return self.finish(closing);
            }
            match written {
                Ok(()) => self.checkpoints.keep_small(&self.opened.database),
                Err(_) => std::thread::sleep(RECOVERY),
            }
        }
    }

    /// Waits for a command and takes all that are queued.
    fn gather(&mut self, waiting: &Receiver<Command>) -> Batch {
        let mut batch = Batch::default();
        match waiting.recv() {
            Ok(command) => batch.add(command),
            Err(_) => batch.closing = Some(Closing::Abandoned),
        }
        while batch.commands.len() < WRITES_AT_ONCE && batch.closing.is_none() {
            let next = if (1..self.expected).contains(&batch.commands.len()) {
                waiting.recv_timeout(BATCH_WAIT).ok()
            } else {
                waiting.try_recv().ok()
            };
            let Some(command) = next else { break };
            batch.add(command);
        }
        self.expected = batch.commands.len().div_ceil(2);
        batch
    }

    /// One transaction for all commands. They are answered after the commit, or with its error.
    fn write(&mut self, commands: Vec<Command>) -> Result<(), StoreError> {
        if commands.is_empty() {
            return Ok(());
        }
        let mut replies: Vec<Reply> = Vec::with_capacity(commands.len());
        let outcome = self.commit(commands, &mut replies).map_err(|error| {
            self.recover();
            store_error(&error)
        });
        for reply in replies {
            // mutant: failed-commit-acknowledged
            reply(outcome);
        }
        outcome
    }

    fn commit(&mut self, commands: Vec<Command>, replies: &mut Vec<Reply>) -> rusqlite::Result<()> {
        let database = &mut self.opened.database;
        self.syncing.set(apply::syncing(&commands), database)?;
        run(database, "BEGIN IMMEDIATE")?;
        for command in commands {
            apply::command(database, command, replies)?;
        }
        run(database, "COMMIT")
    }

    fn recover(&mut self) {
        // After some errors SQLite has rolled back by itself.
        if !self.opened.database.is_autocommit() {
            let _ = self.opened.database.execute_batch("ROLLBACK");
        }
    }

    /// Closes the database with an empty log.
    fn finish(mut self, closing: Closing) {
        self.checkpoints.stop();
        LogSize::Empty.reach(&self.opened.database);
        let OpenedDatabase { database, lock } = self.opened;
        let closed: Result<(), (Connection, rusqlite::Error)> = database.close();
        if let Err((_, error)) = closed {
            store_error(&error);
        }
        // Only now may another process open the file.
        drop(lock);
        match closing {
            Closing::Asked(answer) => {
                let _ = answer.send(Ok(()));
            }
            Closing::Abandoned => {}
        }
    }
}
