//! Orders in one SQLite file, for one process.
//!
//! One thread writes. It takes every move that waits, applies each as a whole or
//! not at all, commits once, and then answers all: a disk that syncs six hundred
//! times a second serves many thousand moves. Reads have their own connections
//! and wait for nobody.

use std::path::Path;

use async_trait::async_trait;
use order::lifecycle::event::{Actor, Event};
use order::lifecycle::{Offered, Order, Stored};
use order::model::ids::{OperationKey, OrderId, Timestamp, WorkerId};
use order::model::payment::PaymentKey;
use order::ports::{OpenOrders, Store, StoreError, Tidied, TidyLimits};
use rusqlite::OpenFlags;

mod apply;
mod checkpoint;
mod command;
mod connection;
mod outbox;
mod queries;
mod readers;
mod writer;

use self::command::{Claim, Move, Rival, Unneeded};
use self::readers::Readers;
use self::writer::Writer;
use super::OpenError;
use super::rows::{
    self, Row,
    sql::{self, Dialect},
};
use super::undecryptable::Undecryptable;
use crate::keys::Keyring;
use crate::seal::Seals;

/// How many rows one step of a tidying touches, so that moves wait a few
/// milliseconds for it at most.
const TIDY_ROWS: u64 = 500;

pub struct SqliteStore {
    seals: Seals,
    readers: Readers,
    writer: Writer,
    undecryptable: Undecryptable,
}

impl SqliteStore {
    /// Opens or makes the database, brings its schema up to date, and takes it
    /// for this process alone. It blocks for as long as that takes.
    pub fn open(path: &Path, keyring: &Keyring) -> Result<Self, OpenError> {
        let opened = connection::open(path, keyring)?;
        let readers = Readers::open(path)?;
        let writer = Writer::start(path, opened)?;
        let (seals, undecryptable) = (Seals::new(keyring), Undecryptable::default());
        Ok(Self { seals, readers, writer, undecryptable })
    }

    /// The open orders of a file that is there and that no process has open. It is read and
    /// not changed.
    pub fn open_orders_in(path: &Path) -> Option<Vec<OpenOrders>> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let database = rusqlite::Connection::open_with_flags(path, flags).ok()?;
        queries::open_orders(&database).ok()
    }

    /// Lets go of the file. Whatever is asked afterwards is answered with
    /// [`StoreError::Busy`].
    pub async fn close(&self) -> Result<(), StoreError> {
        self.readers.close().await;
        self.writer.close().await
    }

    fn read(&self, row: Option<Row>) -> Result<Option<Stored>, StoreError> {
        row.map(|row| rows::read(row, &self.seals)).transpose()
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn newest(&self, key: &OperationKey) -> Result<Option<Stored>, StoreError> {
        self.read(self.readers.ask(|database| queries::newest(database, *key)).await?)
    }

    async fn find(&self, id: OrderId) -> Result<Option<Stored>, StoreError> {
        self.read(self.readers.ask(|database| queries::find(database, id)).await?)
    }

    async fn offer(&self, fresh: Order<Offered>) -> Result<Stored, StoreError> {
        rows::read(self.writer.offer(rows::offer_row(fresh)).await?, &self.seals)
    }

    async fn record(&self, next: &Stored, by: &Actor) -> Result<u64, StoreError> {
        let version = next.version() + 1;
        let mut row = rows::write(next, &self.seals).map_err(|_| StoreError::Busy)?;
        row.version = Some(version.cast_signed());
        let keys = next.payment_keys().to_vec();
        let event = Event::of(next, version, by);
        let rival = if next.is_in_play() { Rival::Possible } else { Rival::None };
        self.writer.record(Move { row, keys, event, rival }).await.map(|()| version)
    }

    async fn bound(&self, keys: &[PaymentKey]) -> Result<Vec<OrderId>, StoreError> {
        self.readers.ask(|database| queries::bound(database, keys)).await
    }

    async fn claim(
        &self,
        worker: WorkerId,
        now: Timestamp,
        until: Timestamp,
        most: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        let (except, seals) = (self.undecryptable.ids_at(now), self.seals.clone());
        let claim = Claim { worker, now, until, most, except, seals };
        let claimed = self.writer.claim(claim).await?;
        for id in &claimed.undecryptable {
            self.undecryptable.add(id, now);
        }
        // An order that cannot be read is in the log, and must not keep the
        // others from being looked after.
        let taken = claimed.taken.into_iter();
        Ok(taken.filter_map(|row| rows::read(row, &self.seals).ok()).collect())
    }

    async fn hasten_refused(&self, now: Timestamp) -> Result<(), StoreError> {
        let now = now.0.cast_signed();
        let hasten = sql::hasten_refused(Dialect::Sqlite);
        self.writer
            .write(Box::new(move |database| {
                database.prepare_cached(&hasten)?.execute([now]).map(drop)
            }))
            .await
    }

    async fn tidy(&self, now: Timestamp, limits: TidyLimits) -> Result<Tidied, StoreError> {
        self.tidy_outbox(now).await?;
        let mut tidied = Tidied::default();
        loop {
            let lapsed = self.writer.lapse(now, TIDY_ROWS).await?;
            tidied.lapsed += lapsed;
            if lapsed < TIDY_ROWS {
                break;
            }
        }
        if let Some(before) = now.0.checked_sub(limits.tombstone_seconds) {
            let old = Unneeded::LapsedBefore(Timestamp(before));
            tidied.dropped += self.drop_all(old, u64::MAX).await?;
        }
        let unpaid = self.readers.ask_at_length(count_unpaid).await?;
        let above = unpaid.saturating_sub(limits.unpaid_rows_max);
        tidied.dropped += self.drop_all(Unneeded::OldestUnpaid, above).await?;
        Ok(tidied)
    }

    async fn events(&self, id: OrderId) -> Result<Vec<Event>, StoreError> {
        self.readers.ask(|database| queries::events(database, id)).await
    }

    async fn open_orders(&self) -> Result<Vec<OpenOrders>, StoreError> {
        self.readers.ask_at_length(queries::open_orders).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.readers.ask(queries::ping).await?;
        self.writer.ping().await
    }
}

fn count_unpaid(database: &rusqlite::Connection) -> Result<u64, StoreError> {
    queries::count_unpaid(database).map_err(|error| connection::trouble(&error))
}

impl SqliteStore {
    /// Drops up to `most` rows, a few at a time.
    async fn drop_all(&self, which: Unneeded, most: u64) -> Result<u64, StoreError> {
        let mut dropped = 0;
        while dropped < most {
            let step = TIDY_ROWS.min(most - dropped);
            let gone = self.writer.drop_rows(which, step).await?;
            dropped += gone;
            if gone == 0 {
                break;
            }
        }
        Ok(dropped)
    }
}
