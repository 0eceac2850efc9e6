//! A provider's rate budget in PostgreSQL: one row for an account, shared by all processes.

use std::mem;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use order::ports::StoreError;
use tokio::sync::oneshot;

use super::PostgresStore;
use super::connection::{Server, trouble};
use super::queries::cell;
use crate::provider::budget::{ANSWER_SECONDS, Entry, Ledger, Rate, SharedBudget, Spent, Standing};

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
const PATIENCE: &str =
    "SET LOCAL idle_in_transaction_session_timeout = '2s'; SET LOCAL synchronous_commit = off";

type Answer = Result<Result<(), Spent>, StoreError>;

/// One account's row. Entries that come while a transaction is under way share the next
/// one, the most urgent first, so a crowd costs one connection and few commits.
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
    at_work: AtWork,
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
        // Most cards show what the row says already. If another process has been refused
        // meanwhile, the next card shows it.
        if entry == Entry::Note(Standing::Served) && self.0.refusals.load(Ordering::Relaxed) == 0 {
            return Ok(Ok(()));
        }
        let (answer, heard) = oneshot::channel();
        let before = {
            let mut queue = self.0.queue();
            queue.waiting.push(Waiting { entry, rate, answer });
            mem::replace(&mut queue.at_work, AtWork::Yes)
        };
        if before == AtWork::No {
            // A task of its own: a caller that goes away must not take the others' answers
            // with it.
            tokio::spawn(Arc::clone(&self.0).serve());
        }
        heard.await.unwrap_or(Err(StoreError::Busy))
    }
}

impl Account {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves whatever waits, until nothing does.
    async fn serve(self: Arc<Self>) {
        while let Some(batch) = self.next() {
            // After that long no caller waits for the answer.
            let patience = Duration::from_secs(ANSWER_SECONDS);
            let answers = tokio::time::timeout(patience, self.commit(&batch)).await;
            match answers.unwrap_or(Err(StoreError::Busy)) {
                Ok(answers) => {
                    for (waiting, answer) in batch.into_iter().zip(answers) {
                        let _ = waiting.answer.send(Ok(answer));
                    }
                }
                Err(fault) => {
                    for waiting in batch {
                        let _ = waiting.answer.send(Err(fault));
                    }
                }
            }
        }
    }

    fn next(&self) -> Option<Vec<Waiting>> {
        let mut queue = self.queue();
        let mut batch = mem::take(&mut queue.waiting);
        batch.retain(|waiting| !waiting.answer.is_closed());
        if batch.is_empty() {
            queue.at_work = AtWork::No;
            return None;
        }
        batch.sort_by_key(|waiting| waiting.entry.caller());
        Some(batch)
    }

    /// One transaction for all of them. Where nothing changes, nothing is written.
    async fn commit(&self, batch: &[Waiting]) -> Result<Vec<Result<(), Spent>>, StoreError> {
        let fault = |error| trouble(&error);
        let mut client = self.server.client().await?;
        let transaction = client.transaction().await.map_err(fault)?;
        transaction.batch_execute(PATIENCE).await.map_err(fault)?;
        let (mut ledger, now) = self.lock(&transaction).await?;
        let before = ledger.clone();
        let apply = |waiting: &Waiting| ledger.apply(waiting.entry, waiting.rate, now);
        let answers = batch.iter().map(apply).collect();
        self.refusals.store(ledger.refusals(), Ordering::Relaxed);
        if ledger != before {
            let write = transaction.prepare_cached(WRITE).await.map_err(fault)?;
            let text = text(&ledger)?;
            transaction.execute(&write, &[&self.name, &text]).await.map_err(fault)?;
            transaction.commit().await.map_err(fault)?;
        }
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

fn text(ledger: &Ledger) -> Result<String, StoreError> {
    serde_json::to_string(ledger).map_err(|_| StoreError::Corrupt)
}
