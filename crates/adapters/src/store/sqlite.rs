//! Orders in one SQLite file, for one process.
//!
//! One thread writes. It takes every move that waits, applies each as a whole or
//! not at all, commits once, and then answers all: a disk that syncs six hundred
//! times a second serves many thousand moves. Reads have their own connections
//! and wait for nobody.
//!
//! Offers are written behind, many on one sheet, and seen from memory until then.
//! Almost all are never paid, so they cost as little as can be: a row in the table
//! of orders is only for those to which something happens. A book in memory knows
//! which sheet has which offer, and which operations are certainly new.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use order::event::{Actor, Event};
use order::ids::{OperationKey, OrderId, Timestamp, WorkerId};
use order::lifecycle::{Offered, Order, Stored};
use order::payment::PaymentKey;
use order::ports::{OpenOrders, Store, StoreError, Tidied, TidyLimits};
use rusqlite::OpenFlags;

mod apply;
mod book;
mod checkpoint;
mod command;
mod connection;
mod filter;
mod index;
mod outbox;
mod queries;
mod readers;
mod sheets;
mod slips;
mod writer;

use self::book::{Book, Names, Whereabouts};
use self::command::{Claim, Move, Rival, Unneeded};
use self::queries::Found;
use self::readers::Readers;
use self::writer::Writer;
use super::OpenError;
use super::pending::{Pending, newer};
use super::rows::{
    self,
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
    book: Arc<Book>,
    pending: Arc<Pending>,
    readers: Readers,
    writer: Writer,
    undecryptable: Undecryptable,
}

impl SqliteStore {
    /// Opens or makes the database, brings its schema up to date, and takes it
    /// for this process alone. It blocks for as long as that takes.
    pub fn open(path: &Path, keyring: &Keyring) -> Result<Self, OpenError> {
        let opened = connection::open(path, keyring)?;
        let fault = |cause| OpenError::Sqlite { path: path.to_owned(), cause };
        let book = Arc::new(Book::open(&opened.database).map_err(fault)?);
        let pending = Arc::new(Pending::default());
        let readers = Readers::start(path)?;
        let writer = Writer::start(path, opened, Arc::clone(&book), Arc::clone(&pending))?;
        let (seals, undecryptable) = (Seals::new(keyring), Undecryptable::default());
        Ok(Self { seals, book, pending, readers, writer, undecryptable })
    }

    /// The open orders of a file that is there and that no process has open. It is read and
    /// not changed.
    pub fn open_orders_in(path: &Path) -> Option<Vec<OpenOrders>> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let database = rusqlite::Connection::open_with_flags(path, flags).ok()?;
        queries::open_orders(&database).ok()
    }

    /// Writes what is still in memory, and lets go of the file. Whatever is
    /// asked afterwards is answered with [`StoreError::Busy`].
    pub async fn close(&self) -> Result<(), StoreError> {
        self.book.close();
        self.readers.close().await;
        self.writer.close().await
    }

    /// Of a row and an offer of the same name, the one that counts.
    fn read(&self, found: Found) -> Result<Option<Stored>, StoreError> {
        let row = found.row.map(|row| rows::read(row, &self.seals)).transpose()?;
        Ok(newer(row, found.offer))
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn newest(&self, key: &OperationKey) -> Result<Option<Stored>, StoreError> {
        // First what no disk has seen: what leaves it is in the book already.
        let waiting = self.pending.newest(key);
        let sheet = match self.book.of_operation(key) {
            Whereabouts::Nowhere => return Ok(waiting.map(Stored::from)),
            Whereabouts::Perhaps { sheet } => sheet,
        };
        let key = *key;
        let found = self.readers.ask(move |database| queries::newest(database, key, sheet)).await?;
        Ok(newer(self.read(found)?, waiting))
    }

    async fn find(&self, id: OrderId) -> Result<Option<Stored>, StoreError> {
        let waiting = self.pending.find(id);
        let sheet = self.book.sheet_of(id);
        let found = self.readers.ask(move |database| queries::find(database, id, sheet)).await?;
        Ok(newer(self.read(found)?, waiting))
    }

    async fn offer(&self, fresh: Order<Offered>) -> Result<Stored, StoreError> {
        let names = Names::from(&fresh);
        // In this sequence here too: if somebody else's offer of this id has just
        // left the memory, it is in the book by the time we look there.
        let kept = self.pending.keep(fresh)?;
        if kept.waiting == 1 {
            self.writer.wake();
        }
        let sheet = match self.book.of_order(names) {
            Whereabouts::Nowhere => return Ok(kept.offer.into()),
            Whereabouts::Perhaps { sheet } => sheet,
        };
        let id = names.order;
        let found = self.readers.ask(move |database| queries::find(database, id, sheet)).await?;
        Ok(self.read(found)?.unwrap_or_else(|| kept.offer.into()))
    }

    async fn record(&self, next: &Stored, by: &Actor) -> Result<u64, StoreError> {
        let version = next.version() + 1;
        let mut row = rows::write(next, &self.seals).map_err(|_| StoreError::Busy)?;
        row.version = Some(version.cast_signed());
        let keys = next.payment_keys().to_vec();
        let event = Event::of(next, version, by);
        let rival = if next.is_in_play() { Rival::Possible } else { Rival::None };
        let names = Names { order: next.id(), operation: next.operation().key };
        self.book.announce(&names.operation);
        self.writer.record(Move { row, names, keys, event, rival }).await.map(|()| version)
    }

    async fn bound(&self, keys: &[PaymentKey]) -> Result<Vec<OrderId>, StoreError> {
        let keys = keys.to_vec();
        self.readers.ask(move |database| queries::bound(database, &keys)).await
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
        self.writer.flush().await?;
        self.tidy_outbox(now).await?;
        let mut tidied = Tidied::default();
        loop {
            let lapsed = self.writer.lapse(now, TIDY_ROWS).await?;
            tidied.lapsed += lapsed;
            if lapsed < TIDY_ROWS {
                break;
            }
        }
        while let Some(lapsed) = self.writer.lapse_sheets(now).await? {
            tidied.lapsed += lapsed;
        }
        if let Some(before) = now.0.checked_sub(limits.tombstone_seconds) {
            let old = Unneeded::LapsedBefore(Timestamp(before));
            tidied.dropped += self.drop_all(old, u64::MAX).await?;
        }
        let unpaid = self.readers.ask(queries::count_unpaid).await? + self.book.offers();
        let above = unpaid.saturating_sub(limits.unpaid_rows_max);
        tidied.dropped += self.drop_all(Unneeded::OldestUnpaid, above).await?;
        Ok(tidied)
    }

    async fn events(&self, id: OrderId) -> Result<Vec<Event>, StoreError> {
        self.readers.ask(move |database| queries::events(database, id)).await
    }

    async fn open_orders(&self) -> Result<Vec<OpenOrders>, StoreError> {
        self.readers.ask(queries::open_orders).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.readers.ask(queries::ping).await?;
        self.writer.ping().await
    }
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
