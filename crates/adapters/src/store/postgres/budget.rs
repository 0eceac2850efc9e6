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
use super::connection::{Server, trouble};
use super::queries::cell;
use crate::provider::budget::{ANSWER_SECONDS, Entry, Ledger, Rate, SharedBudget, Spent, Standing};

mod reservations;

/// Waits for the row, and reads the clock only after that: what a call is dated with must
/// not be older than the wait.
const LOCK: &str = "WITH locked AS MATERIALIZED (
         SELECT ledger FROM provider_budget WHERE account = $1 FOR UPDATE
     )
     SELECT ledger::text, floor(extract(epoch FROM clock_timestamp()))::bigint FROM locked";

const BEGIN: &str = "INSERT INTO provider_budget (account, ledger) VALUES ($1, $2::text::jsonb) ON CONFLICT DO NOTHING";

const WRITE: &str = "UPDATE provider_budget SET ledger = $2::text::jsonb WHERE account = $1";

/// A process that stops between reading and writing must not keep the others from the row,
/// and neither must the disk: a server that crashes may forget the last calls, and then the
/// provider itself refuses those that are too many.
const TRANSACTION_SETTINGS: &str =
    "SET LOCAL idle_in_transaction_session_timeout = '2s'; SET LOCAL synchronous_commit = off";

/// A reserved call that was made is written with the next question, or after that long.
const WRITE_DELAY: Duration = Duration::from_millis(250);

/// Entries that no caller waits for.
type Unwritten = Vec<(Entry, Rate)>;

type Answer = Result<Result<(), Spent>, StoreError>;

/// One account's row. Entries that come while a transaction is under way share the next
/// one, the most urgent first, so a crowd costs one connection and few commits. Where the
/// rate allows it, a process reserves a few calls ahead.
#[derive(Clone)]
struct PostgresBudget(Arc<Account>);

struct Account {
    name: String,
    server: Server,
    queue: Mutex<Queue>,
    /// Refusals in a row, as the row said last.
    refusals: AtomicU32,
}

#[derive(Default)]
struct Queue {
    waiting: Vec<Waiting>,
    reservations: Reservations,
    /// Reserved calls that were made, and spare ones that are given back.
    unwritten: Unwritten,
    at_work: AtWork,
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
enum AtWork {
    Yes,
    #[default]
    No,
}

struct Waiting {
    entry: Entry,
    rate: Rate,
    answer: oneshot::Sender<Answer>,
}

impl PostgresStore {
    /// The budget that all processes on this database share for one provider's account.
    pub fn provider_budget(&self, account: &str) -> Arc<dyn SharedBudget> {
        let (name, server) = (account.to_owned(), self.server.clone());
        let (queue, refusals) = (Mutex::default(), AtomicU32::new(0));
        Arc::new(PostgresBudget(Arc::new(Account { name, server, queue, refusals })))
    }
}

#[async_trait]
impl SharedBudget for PostgresBudget {
    async fn apply(&self, entry: Entry, rate: Rate) -> Answer {
        if self.0.apply_here(entry, rate) {
            return Ok(Ok(()));
        }
        let (answer, heard) = oneshot::channel();
        self.0.queue().waiting.push(Waiting { entry, rate, answer });
        self.0.start();
        let answer = heard.await.unwrap_or(Err(StoreError::Busy));
        if entry == Entry::Reserve && answer == Ok(Ok(())) {
            self.0.queue().reservations.hold(Instant::now());
        }
        answer
    }
}

impl Account {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies what the row need not be asked about; false if it must be.
    fn apply_here(self: &Arc<Self>, entry: Entry, rate: Rate) -> bool {
        let is_served = self.refusals.load(Ordering::Relaxed) == 0;
        let (mut queue, now) = (self.queue(), Instant::now());
        match entry {
            // Most cards show what the row says already. If another process has been refused
            // meanwhile, the next card shows it.
            Entry::Note(Standing::Served) => is_served,
            Entry::Reserve => {
                let stale = queue.reservations.take_stale(now);
                queue.unwritten.extend(iter::repeat_n((Entry::Release, rate), stale));
                is_served && queue.reservations.take_spare(now)
            }
            Entry::Release => queue.reservations.give_back(rate, now),
            Entry::TakeReserved => {
                let is_held = queue.reservations.make(now);
                if is_held {
                    queue.unwritten.push((entry, rate));
                    self.plan_write(&mut queue);
                }
                is_held
            }
            Entry::Note(Standing::Refused) => {
                let spare = queue.reservations.take_all_spare();
                queue.unwritten.extend(iter::repeat_n((Entry::Release, rate), spare));
                false
            }
            Entry::Take(_) | Entry::Report(_) => false,
        }
    }

    /// Serves the queue, unless a task does so already.
    fn start(self: &Arc<Self>) {
        if mem::replace(&mut self.queue().at_work, AtWork::Yes) == AtWork::No {
            // A task of its own: a caller that goes away must not take the others' answers
            // with it.
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
            match answers.unwrap_or(Err(StoreError::Busy)) {
                Ok(answers) => {
                    for (waiting, answer) in batch.into_iter().zip(answers) {
                        let _ = waiting.answer.send(Ok(answer));
                    }
                }
                Err(fault) => {
                    // If they were written after all, these calls count twice for a while.
                    // What was given back expires in the row.
                    let made = unwritten.into_iter().filter(|(entry, _)| *entry != Entry::Release);
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
            queue.at_work = AtWork::No;
            return None;
        }
        batch.sort_by_key(|waiting| waiting.entry.caller());
        Some((batch, mem::take(&mut queue.unwritten)))
    }

    /// One transaction for all of them. Where nothing changes, nothing is written.
    async fn commit(
        &self,
        batch: &[Waiting],
        unwritten: &[(Entry, Rate)],
    ) -> Result<Vec<Result<(), Spent>>, StoreError> {
        let fault = |error| trouble(&error);
        let mut client = self.server.client().await?;
        let transaction = client.transaction().await.map_err(fault)?;
        transaction.batch_execute(TRANSACTION_SETTINGS).await.map_err(fault)?;
        let (mut ledger, now) = self.lock(&transaction).await?;
        let before = ledger.clone();
        for (entry, rate) in unwritten {
            if ledger.apply(*entry, *rate, now).is_err() {
                // Its reservation has expired; the call was made all the same.
                let _ = ledger.apply(Entry::Report(1), *rate, now);
            }
        }
        let apply = |waiting: &Waiting| ledger.apply(waiting.entry, waiting.rate, now);
        let answers = batch.iter().map(apply).collect();
        let spare = reserve_spare(&mut ledger, batch, now);
        self.refusals.store(ledger.refusals(), Ordering::Relaxed);
        if ledger != before {
            let write = transaction.prepare_cached(WRITE).await.map_err(fault)?;
            let text = text(&ledger)?;
            transaction.execute(&write, &[&self.name, &text]).await.map_err(fault)?;
            transaction.commit().await.map_err(fault)?;
        }
        self.queue().reservations.add_spare(spare, Instant::now());
        Ok(answers)
    }

    /// The ledger, which no other process sees until this transaction ends, and the time.
    async fn lock(&self, transaction: &Transaction<'_>) -> Result<(Ledger, u64), StoreError> {
        let fault = |error| trouble(&error);
        let lock = transaction.prepare_cached(LOCK).await.map_err(fault)?;
        let mut row = transaction.query_opt(&lock, &[&self.name]).await.map_err(fault)?;
        if row.is_none() {
            let empty = text(&Ledger::default())?;
            transaction.execute(BEGIN, &[&self.name, &empty]).await.map_err(fault)?;
            row = transaction.query_opt(&lock, &[&self.name]).await.map_err(fault)?;
        }
        let row = row.ok_or(StoreError::Busy)?;
        let ledger = serde_json::from_str(&cell::<String>(&row, 0)?).map_err(|_| {
            tracing::error!("a row of provider_budget cannot be read; delete it to begin anew");
            StoreError::Corrupt
        })?;
        Ok((ledger, cell::<i64>(&row, 1)?.cast_unsigned()))
    }
}

/// Reserves a few calls more, where cards are being sold. Answers how many.
fn reserve_spare(ledger: &mut Ledger, batch: &[Waiting], now: u64) -> usize {
    let Some(waiting) = batch.iter().find(|waiting| waiting.entry == Entry::Reserve) else {
        return 0;
    };
    let most = if ledger.refusals() == 0 { spare_most(waiting.rate) } else { 0 };
    (0..most).take_while(|_| ledger.apply(Entry::Reserve, waiting.rate, now).is_ok()).count()
}

fn text(ledger: &Ledger) -> Result<String, StoreError> {
    serde_json::to_string(ledger).map_err(|_| StoreError::Corrupt)
}
