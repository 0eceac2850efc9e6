//! The one thread that writes: many moves, one commit.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use order::ids::Timestamp;
use order::lifecycle::{Offered, Order};
use order::ports::{StoreError, TidyLimits};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::apply::{self, Reply, Syncing};
use super::book::{Book, Changes};
use super::checkpoint::{Checkpoints, LogSize};
use super::command::{Answer, Claim, Claimed, Command, DurableWrite, Move, Unneeded};
use super::connection::{Opened, run, trouble};
use super::sheets;
use crate::store::OpenError;
use crate::store::pending::Pending;

/// More than one commit can take, and less than a second's worth.
const COMMANDS_MAX: usize = 4_096;
/// Moves in one commit. More would save nothing and make the first one wait.
const MOVES_AT_ONCE: usize = 512;
/// Offers in a commit with moves, which wait for them: some ten milliseconds' worth.
const OFFERS_BESIDE_MOVES: usize = 512;
/// Offers in a commit of their own. The more there are, the fewer pages each of
/// them has to itself; a move that comes meanwhile waits a twentieth of a second.
const OFFERS_ALONE: usize = 2_048;
/// Offers on sheets. What is above the limit goes at once, so that no flood outgrows the
/// memory between two tidyings.
const OFFERS_MAX: u64 = TidyLimits::DEFAULT.unpaid_rows_max;
/// How long offers wait for company when nothing else is to be written. Each commit has a
/// price of its own, and one that a crash takes is made again.
const GATHERING: Duration = Duration::from_millis(20);
/// How long to listen for the next move when the last commit had many. Who was
/// just answered is likely to be back, and a commit for the first of them alone
/// would make all others wait for the disk once more.
const EARSHOT: Duration = Duration::from_micros(150);
/// After a commit that failed, before offers are tried again.
const RECOVERY: Duration = Duration::from_millis(100);

/// The way to the thread that writes.
pub(super) struct Writer {
    commands: SyncSender<Command>,
    pending: Arc<Pending>,
}

impl Writer {
    pub(super) fn start(
        path: &Path,
        opened: Opened,
        book: Arc<Book>,
        pending: Arc<Pending>,
    ) -> Result<Self, OpenError> {
        let checkpoints = Checkpoints::start(path)?;
        let (commands, waiting) = sync_channel(COMMANDS_MAX);
        let bench = Bench {
            opened,
            checkpoints,
            book,
            pending: Arc::clone(&pending),
            syncing: Syncing::Always,
            flushes: Vec::new(),
            expected: 0,
        };
        std::thread::Builder::new()
            .name("sqlite writer".into())
            .spawn(move || bench.work(&waiting))
            .map_err(|cause| OpenError::File { path: path.to_owned(), cause })?;
        Ok(Self { commands, pending })
    }

    pub(super) async fn record(&self, next: Move) -> Result<(), StoreError> {
        self.send(|answer| Command::Record(Box::new(next), answer)).await
    }

    pub(super) async fn claim(&self, claim: Claim) -> Result<Claimed, StoreError> {
        self.send(|answer| Command::Claim(Box::new(claim), answer)).await
    }

    pub(super) async fn lapse(&self, now: Timestamp, most: u64) -> Result<u64, StoreError> {
        self.send(|answer| Command::Lapse { now, most, answer }).await
    }

    pub(super) async fn lapse_sheets(&self, now: Timestamp) -> Result<Option<u64>, StoreError> {
        self.send(|answer| Command::LapseSheets { now, answer }).await
    }

    pub(super) async fn drop_rows(&self, which: Unneeded, most: u64) -> Result<u64, StoreError> {
        self.send(|answer| Command::Drop { which, most, answer }).await
    }

    /// Returns when every offer that is in memory now is in the database.
    pub(super) async fn flush(&self) -> Result<(), StoreError> {
        let mark = self.pending.mark();
        self.send(|answer| Command::Flush { mark, answer }).await
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

    pub(super) fn wake(&self) {
        // A full queue keeps the writer awake anyway.
        let _ = self.commands.try_send(Command::Wake);
    }

    async fn send<T>(&self, command: impl FnOnce(Answer<T>) -> Command) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        self.commands.try_send(command(answer)).map_err(|_| StoreError::Busy)?;
        answered.await.unwrap_or(Err(StoreError::Busy))
    }
}

/// Where the thread works.
struct Bench {
    opened: Opened,
    checkpoints: Checkpoints,
    book: Arc<Book>,
    pending: Arc<Pending>,
    syncing: Syncing,
    flushes: Vec<(u64, Answer<()>)>,
    /// How many moves are likely to come together: half of what came last time.
    expected: usize,
}

/// What one commit takes on.
#[derive(Default)]
struct Batch {
    commands: Vec<Command>,
    closing: Option<Closing>,
}

/// The store is to end, and perhaps somebody wants to know when.
enum Closing {
    Asked(Answer<()>),
    Abandoned,
}

impl Bench {
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

    /// Everything that waits, once something does.
    fn gather(&mut self, waiting: &Receiver<Command>) -> Batch {
        let mut batch = Batch::default();
        let offers = self.pending.waiting();
        let first = if offers >= OFFERS_ALONE || !self.flushes.is_empty() {
            waiting.try_recv().map_err(|empty| match empty {
                std::sync::mpsc::TryRecvError::Empty => RecvTimeoutError::Timeout,
                std::sync::mpsc::TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
            })
        } else if offers > 0 {
            waiting.recv_timeout(GATHERING)
        } else {
            waiting.recv().map_err(|_| RecvTimeoutError::Disconnected)
        };
        match first {
            Ok(command) => self.sort(&mut batch, command),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => batch.closing = Some(Closing::Abandoned),
        }
        while batch.commands.len() < MOVES_AT_ONCE && batch.closing.is_none() {
            let next = if (1..self.expected).contains(&batch.commands.len()) {
                waiting.recv_timeout(EARSHOT).ok()
            } else {
                waiting.try_recv().ok()
            };
            let Some(command) = next else { break };
            self.sort(&mut batch, command);
        }
        self.expected = batch.commands.len().div_ceil(2);
        batch
    }

    fn sort(&mut self, batch: &mut Batch, command: Command) {
        match command {
            Command::Flush { mark, answer } => self.flushes.push((mark, answer)),
            Command::Close(answer) => batch.closing = Some(Closing::Asked(answer)),
            Command::Wake => {}
            Command::Record(..)
            | Command::Claim(..)
            | Command::Lapse { .. }
            | Command::LapseSheets { .. }
            | Command::Drop { .. }
            | Command::Write(..)
            | Command::Ping(_) => batch.commands.push(command),
        }
    }

    /// One transaction with everything in it. Nobody is answered before it is
    /// committed, and all are told when it is not.
    fn write(&mut self, commands: Vec<Command>) -> Result<(), StoreError> {
        let most = if commands.is_empty() { OFFERS_ALONE } else { OFFERS_BESIDE_MOVES };
        let offers = self.pending.next(most);
        let count = offers.len();
        if commands.is_empty() && count == 0 {
            self.answer_flushes(Ok(()));
            return Ok(());
        }
        let offers = self.book.unwritten(offers);
        let mut replies: Vec<Reply> = Vec::with_capacity(commands.len());
        let written = self.commit(commands, &offers, &mut replies);
        let outcome = match written {
            Ok(changes) => {
                // First there, then not here any more: nobody finds it nowhere.
                self.book.commit(&changes);
                self.pending.written(count);
                Ok(())
            }
            Err(error) => {
                self.recover();
                Err(trouble(&error))
            }
        };
        for reply in replies {
            reply(outcome);
        }
        self.answer_flushes(outcome);
        outcome
    }

    fn commit(
        &mut self,
        commands: Vec<Command>,
        offers: &[Order<Offered>],
        replies: &mut Vec<Reply>,
    ) -> rusqlite::Result<Changes> {
        let mut changes = Changes::default();
        let database = &mut self.opened.database;
        self.syncing.set(apply::syncing(&commands), database)?;
        run(database, "BEGIN IMMEDIATE")?;
        sheets::write(database, offers, &mut changes)?;
        sheets::keep_within(database, &self.book, OFFERS_MAX, &mut changes)?;
        for command in commands {
            apply::command(database, &self.book, command, &mut changes, replies)?;
        }
        run(database, "COMMIT").map(|()| changes)
    }

    fn recover(&mut self) {
        // After some errors SQLite has rolled back by itself.
        if !self.opened.database.is_autocommit() {
            let _ = self.opened.database.execute_batch("ROLLBACK");
        }
    }

    fn answer_flushes(&mut self, outcome: Result<(), StoreError>) {
        for (mark, answer) in std::mem::take(&mut self.flushes) {
            if outcome.is_err() || self.pending.reached(mark) {
                let _ = answer.send(outcome);
            } else {
                self.flushes.push((mark, answer));
            }
        }
    }

    /// Writes the last offers, and leaves one file without a log.
    fn finish(mut self, closing: Closing) {
        let mut written = Ok(());
        while self.pending.waiting() > 0 && written.is_ok() {
            written = self.write(Vec::new());
        }
        self.checkpoints.stop();
        LogSize::Empty.reach(&self.opened.database);
        let Opened { database, lock } = self.opened;
        let closed: Result<(), (Connection, rusqlite::Error)> = database.close();
        if let Err((_, error)) = closed {
            trouble(&error);
        }
        // The next process may come now, and not earlier.
        drop(lock);
        match closing {
            Closing::Asked(answer) => {
                let _ = answer.send(written);
            }
            Closing::Abandoned => {}
        }
    }
}
