//! A provider's rate budget in PostgreSQL: one row for an account, shared by all processes.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{iter, mem};

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use order::ports::StoreError;
use tokio::sync::oneshot;
use tokio::time::Instant;

use self::reservations::{Reservations, spare_most};
use super::PostgresStore;
use super::connection::{Server, store_error};
use super::queries::cell;
use crate::provider::budget::{
    ANSWER_SECONDS, AccountStanding, BudgetExhausted, CallLedger, CallRate, LedgerEntry,
    SharedBudget,
};

mod reservations;

/// Locks the row and reads the clock after that, so that a call is not dated before the wait.
const LOCK: &str = "WITH locked AS MATERIALIZED (
         SELECT ledger FROM provider_budget WHERE account = $1 FOR UPDATE
     )
     SELECT ledger::text, floor(extract(epoch FROM clock_timestamp()))::bigint FROM locked";

const BEGIN: &str = "INSERT INTO provider_budget (account, ledger) VALUES ($1, $2::text::jsonb) ON CONFLICT DO NOTHING";

const WRITE: &str = "UPDATE provider_budget SET ledger = $2::text::jsonb WHERE account = $1";

/// A stopped process must not keep the row locked, and a commit need not wait for the disk: after
/// a server crash some calls may be missing, and the provider itself refuses those that are too
/// many.
const TRANSACTION_SETTINGS: &str =
    "SET LOCAL idle_in_transaction_session_timeout = '2s'; SET LOCAL synchronous_commit = off";

/// A used reservation is written with the next entry, or after this time.
const WRITE_DELAY: Duration = Duration::from_millis(250);

/// Entries that no caller waits for.
type Unwritten = Vec<(LedgerEntry, CallRate)>;

type Answer = Result<Result<(), BudgetExhausted>, StoreError>;

/// One account's row. Entries that arrive during a transaction share the next one, the most
/// urgent first, so load costs one connection and few commits. If the rate allows it, a process
/// reserves a few calls ahead.
#[derive(Clone)]
struct PostgresBudget(Arc<Account>);

struct Account {
    name: String,
    server: Server,
    queue: Mutex<Queue>,
    /// Refusals in a row, as last read.
    refusals: AtomicU32,
    last_read: Mutex<Option<ReadLedger>>,
}

/// The ledger as last read.
struct ReadLedger {
    ledger: CallLedger,
    rate: CallRate,
    /// The database's time in seconds, and ours.
    now: u64,
    at: Instant,
}

#[derive(Default)]
struct Queue {
    waiting: Vec<Waiting>,
    reservations: Reservations,
    /// Used reservations, and spare ones that are released.
    unwritten: Unwritten,
    at_work: QueueTask,
    write: Write,
}

/// When the unwritten entries go to the row, if no other entry takes them along.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Write {
    #[default]
    NotPlanned,
    Planned,
    Due,
}

/// Whether a task serves the queue.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum QueueTask {
    Yes,
    #[default]
    No,
}

struct Waiting {
    entry: LedgerEntry,
    rate: CallRate,
    answer: oneshot::Sender<Answer>,
}

impl PostgresStore {
    /// The budget that all processes on this database share for one provider's account.
    pub fn provider_budget(&self, account: &str) -> Arc<dyn SharedBudget> {
        let (name, server) = (account.to_owned(), self.server.clone());
        let (queue, refusals, last_read) = (Mutex::default(), AtomicU32::new(0), Mutex::default());
        Arc::new(PostgresBudget(Arc::new(Account { name, server, queue, refusals, last_read })))
    }
}

#[async_trait]
impl SharedBudget for PostgresBudget {
    async fn apply(&self, entry: LedgerEntry, rate: CallRate) -> Answer {
        if self.0.apply_here(entry, rate) {
            return Ok(Ok(()));
        }
        let (answer, heard) = oneshot::channel();
        self.0.queue().waiting.push(Waiting { entry, rate, answer });
        self.0.start();
        let answer = heard.await.unwrap_or(Err(StoreError::Lost));
        if entry == LedgerEntry::Reserve && answer == Ok(Ok(())) {
            self.0.queue().reservations.hold(Instant::now());
        }
        answer
    }

    fn calls_left(&self) -> Option<usize> {
        let last_read = self.0.last_read.lock().unwrap_or_else(PoisonError::into_inner);
        let ReadLedger { ledger, rate, now, at } = last_read.as_ref()?;
        let mut ledger = ledger.clone();
        ledger.advance(*rate, now.saturating_add(at.elapsed().as_secs()));
        Some(ledger.calls_left(*rate))
    }
}

impl Account {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies an entry without the row; false if the row is needed.
    fn apply_here(self: &Arc<Self>, entry: LedgerEntry, rate: CallRate) -> bool {
        let is_served = self.refusals.load(Ordering::Relaxed) == 0;
        let (mut queue, now) = (self.queue(), Instant::now());
        match entry {
            // Usually the row says so already. If another process was refused meanwhile, the next
            // card corrects it.
            LedgerEntry::Note(AccountStanding::Served) => is_served,
            LedgerEntry::Reserve => {
                let stale = queue.reservations.take_stale(now);
                queue.unwritten.extend(iter::repeat_n((LedgerEntry::Release, rate), stale));
                is_served && queue.reservations.take_spare(now)
            }
            LedgerEntry::Release => queue.reservations.release(rate, now),
            LedgerEntry::TakeReserved => {
                let is_held = queue.reservations.take_held(now);
                if is_held {
                    queue.unwritten.push((entry, rate));
                    self.plan_write(&mut queue);
                }
                is_held
            }
            LedgerEntry::Note(AccountStanding::Refused) => {
                let spare = queue.reservations.take_all_spare();
                queue.unwritten.extend(iter::repeat_n((LedgerEntry::Release, rate), spare));
                false
            }
            LedgerEntry::Take(_) | LedgerEntry::Report(_) => false,
        }
    }

    /// Serves the queue, unless a task does so already.
    fn start(self: &Arc<Self>) {
        if mem::replace(&mut self.queue().at_work, QueueTask::Yes) == QueueTask::No {
            // A separate task: a cancelled caller must not cancel the others.
            tokio::spawn(Arc::clone(self).serve());
        }
    }

    /// Writes the unwritten entries soon, unless others take them along first.
    fn plan_write(self: &Arc<Self>, queue: &mut Queue) {
        if queue.write != Write::NotPlanned {
            return;
        }
        queue.write = Write::Planned;
        let account = Arc::clone(self);
        tokio::spawn(async move {
            tokio::time::sleep(WRITE_DELAY).await;
            account.queue().write = Write::Due;
            account.start();
        });
    }

    /// Serves whatever waits, until nothing does.
    async fn serve(self: Arc<Self>) {
        while let Some((batch, unwritten)) = self.next() {
            // After that long no caller waits for the answer.
            let patience = Duration::from_secs(ANSWER_SECONDS);
            let answers = tokio::time::timeout(patience, self.commit(&batch, &unwritten)).await;
            match answers.unwrap_or(Err(StoreError::Lost)) {
                Ok(answers) => {
                    for (waiting, answer) in batch.into_iter().zip(answers) {
                        let _ = waiting.answer.send(Ok(answer));
                    }
                }
                Err(fault) => {
                    // If they were written after all, these calls count twice for a while.
                    // Released reservations expire in the row.
                    let made =
                        unwritten.into_iter().filter(|(entry, _)| *entry != LedgerEntry::Release);
                    self.queue().unwritten.extend(made);
                    for waiting in batch {
                        let _ = waiting.answer.send(Err(fault));
                    }
                }
            }
        }
    }

    fn next(&self) -> Option<(Vec<Waiting>, Unwritten)> {
        let mut queue = self.queue();
        let mut batch = mem::take(&mut queue.waiting);
        batch.retain(|waiting| !waiting.answer.is_closed());
        let is_due = queue.write == Write::Due && !queue.unwritten.is_empty();
        if queue.write == Write::Due {
            queue.write = Write::NotPlanned;
        }
        if batch.is_empty() && !is_due {
            queue.at_work = QueueTask::No;
            return None;
        }
        batch.sort_by_key(|waiting| waiting.entry.caller());
        Some((batch, mem::take(&mut queue.unwritten)))
    }

    /// One transaction for all of them. Where nothing changes, nothing is written.
    async fn commit(
        &self,
        batch: &[Waiting],
        unwritten: &[(LedgerEntry, CallRate)],
    ) -> Result<Vec<Result<(), BudgetExhausted>>, StoreError> {
        let fault = |error| store_error(&error);
        let mut client = self.server.client().await?;
        let transaction = client.transaction().await.map_err(fault)?;
        transaction.batch_execute(TRANSACTION_SETTINGS).await.map_err(fault)?;
        let (mut ledger, now) = self.lock(&transaction).await?;
        let before = ledger.clone();
        for (entry, rate) in unwritten {
            if ledger.apply(*entry, *rate, now).is_err() {
                // Its reservation has expired, but the call was made.
                let _ = ledger.apply(LedgerEntry::Report(1), *rate, now);
            }
        }
        let apply = |waiting: &Waiting| ledger.apply(waiting.entry, waiting.rate, now);
        let answers = batch.iter().map(apply).collect();
        let spare = reserve_spare(&mut ledger, batch, now);
        self.refusals.store(ledger.refusals(), Ordering::Relaxed);
        self.keep(batch, unwritten, &ledger, now);
        if ledger != before {
            let write = transaction.prepare_cached(WRITE).await.map_err(fault)?;
            let text = text(&ledger)?;
            transaction.execute(&write, &[&self.name, &text]).await.map_err(fault)?;
            transaction.commit().await.map_err(fault)?;
        }
        self.queue().reservations.add_spare(spare, Instant::now());
        Ok(answers)
    }

    /// Keeps a copy for `calls_left`. If the write then fails, the copy counts too many calls until
    /// the next one.
    fn keep(
        &self,
        batch: &[Waiting],
        unwritten: &[(LedgerEntry, CallRate)],
        ledger: &CallLedger,
        now: u64,
    ) {
        let rates = batch.iter().map(|waiting| waiting.rate);
        let Some(rate) = rates.chain(unwritten.iter().map(|(_, rate)| *rate)).next() else {
            return;
        };
        let read = ReadLedger { ledger: ledger.clone(), rate, now, at: Instant::now() };
        *self.last_read.lock().unwrap_or_else(PoisonError::into_inner) = Some(read);
    }

    /// The ledger, locked until this transaction ends, and the time.
    async fn lock(&self, transaction: &Transaction<'_>) -> Result<(CallLedger, u64), StoreError> {
        let fault = |error| store_error(&error);
        let lock = transaction.prepare_cached(LOCK).await.map_err(fault)?;
        let mut row = transaction.query_opt(&lock, &[&self.name]).await.map_err(fault)?;
        if row.is_none() {
            let empty = text(&CallLedger::default())?;
            transaction.execute(BEGIN, &[&self.name, &empty]).await.map_err(fault)?;
            row = transaction.query_opt(&lock, &[&self.name]).await.map_err(fault)?;
        }
        let row = row.ok_or(StoreError::Lost)?;
        let ledger = serde_json::from_str(&cell::<String>(&row, 0)?).map_err(|_| {
            tracing::error!(
                "A row of provider_budget cannot be read; delete it to reset the budget"
            );
            StoreError::Corrupt
        })?;
        Ok((ledger, cell::<i64>(&row, 1)?.cast_unsigned()))
    }
}

/// Reserves spare calls while cards are sold. Returns their number.
fn reserve_spare(ledger: &mut CallLedger, batch: &[Waiting], now: u64) -> usize {
    let Some(waiting) = batch.iter().find(|waiting| waiting.entry == LedgerEntry::Reserve) else {
        return 0;
    };
    let most = if ledger.refusals() == 0 { spare_most(waiting.rate) } else { 0 };
    (0..most).take_while(|_| ledger.apply(LedgerEntry::Reserve, waiting.rate, now).is_ok()).count()
}

fn text(ledger: &CallLedger) -> Result<String, StoreError> {
    serde_json::to_string(ledger).map_err(|_| StoreError::Corrupt)
}
