//! Orders in one SQLite file, for one process.
//!
//! One thread writes. It applies all waiting commands, each atomically, commits once and then
//! answers all, so a disk with 600 syncs a second serves many thousand writes. Reads have their
//! own connections and do not wait.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use order::lifecycle::event::{Actor, Event};
use order::lifecycle::{Offered, Order, Stored};
use order::model::ids::{OperationKey, OrderId, Timestamp, WorkerId};
use order::model::payment::PaymentKey;
use order::operator::filter::OrderFilter;
use order::operator::page::OrderPage;
use order::ports::{NumberedEvent, OpenOrders, StateCount, Store, StoreError, Tidied, TidyLimits};
use rusqlite::OpenFlags;

mod apply;
mod backup;
mod checkpoint;
mod command;
mod connection;
mod outbox;
mod queries;
mod readers;
mod writer;

pub use self::backup::{BackupError, BackupReport};
use self::command::{Claim, OrderWrite, OtherInPlay, RowsToDrop};
use self::readers::Readers;
use self::writer::Writer;
use super::OpenError;
use super::rows::{
    self, Row,
    sql::{self, Dialect},
};
use super::schema::{FileUse, StoredSchema};
use super::undecryptable::Undecryptable;
use crate::keys::Keyring;
use crate::store::encryption::ColumnCipher;

/// The most rows of one clean-up statement, so that writes wait a few milliseconds at most.
const TIDY_ROWS: u64 = 500;

pub struct SqliteStore {
    path: PathBuf,
    cipher: ColumnCipher,
    readers: Readers,
    writer: Writer,
    undecryptable: Undecryptable,
}

impl SqliteStore {
    /// Opens or creates the database, migrates it and locks it for this process. Blocks
    /// meanwhile.
    pub fn open(path: &Path, keyring: &Keyring) -> Result<Self, OpenError> {
        let opened = connection::open(path, keyring)?;
        let readers = Readers::open(path)?;
        let writer = Writer::start(path, opened)?;
        let (cipher, undecryptable) = (ColumnCipher::new(keyring), Undecryptable::default());
        Ok(Self { path: path.to_owned(), cipher, readers, writer, undecryptable })
    }

    /// The open orders of a file that is there and that no process has open. It is read and
    /// not changed.
    pub fn open_orders_in(path: &Path) -> Option<Vec<OpenOrders>> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let database = rusqlite::Connection::open_with_flags(path, flags).ok()?;
        queries::open_orders(&database).ok()
    }

    /// The schema of a file, and whether a process has it open. It is read and not changed.
    pub fn schema_in(path: &Path) -> Result<(StoredSchema, FileUse), OpenError> {
        connection::schema(path)
    }

    /// Writes a verified copy of the database to a file that does not exist, while it is in use.
    pub async fn backup(&self, target: &Path) -> Result<BackupReport, BackupError> {
        let (source, copy) = (self.path.clone(), target.to_owned());
        let made = tokio::task::spawn_blocking(move || backup::backup(&source, &copy)).await;
        made.unwrap_or_else(|error| Err(BackupError::Damaged(error.to_string())))
    }

    /// Closes the file. Later calls fail with [`StoreError::Lost`].
    pub async fn close(&self) -> Result<(), StoreError> {
        self.readers.close().await;
        self.writer.close().await
    }

    fn read(&self, row: Option<Row>) -> Result<Option<Stored>, StoreError> {
        row.map(|row| rows::read(row, &self.cipher)).transpose()
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
        rows::read(self.writer.offer(rows::offer_row(fresh)).await?, &self.cipher)
    }

    async fn record(&self, next: &Stored, by: &Actor) -> Result<u64, StoreError> {
        let version = next.version() + 1;
        let mut row = rows::write(next, &self.cipher).map_err(|_| StoreError::Lost)?;
        row.version = Some(version.cast_signed());
        let keys = next.payment_keys().to_vec();
        let event = Event::of(next, version, by);
        let other_in_play =
            if next.is_in_play() { OtherInPlay::Possible } else { OtherInPlay::None };
        self.writer.record(OrderWrite { row, keys, event, other_in_play }).await.map(|()| version)
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
        let (except, cipher) = (self.undecryptable.ids_at(now), self.cipher.clone());
        let claim = Claim { worker, now, until, most, except, cipher };
        let claimed = self.writer.claim(claim).await?;
        for id in &claimed.undecryptable {
            self.undecryptable.add(id, now);
        }
        // An order that cannot be read is logged and must not block the others.
        let taken = claimed.taken.into_iter();
        Ok(taken.filter_map(|row| rows::read(row, &self.cipher).ok()).collect())
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
        if let Some(before) = now.0.checked_sub(limits.lapsed_seconds) {
            let old = RowsToDrop::LapsedBefore(Timestamp(before));
            tidied.dropped += self.drop_all(old, u64::MAX).await?;
        }
        let unpaid = self.readers.scan_rows(count_unpaid).await?;
        let above = unpaid.saturating_sub(limits.unpaid_rows_max);
        tidied.dropped += self.drop_all(RowsToDrop::OldestUnpaid, above).await?;
        Ok(tidied)
    }

    async fn events(&self, id: OrderId) -> Result<Vec<Event>, StoreError> {
        self.readers.ask(|database| queries::events(database, id)).await
    }

    async fn list(&self, filter: &OrderFilter, most: usize) -> Result<OrderPage, StoreError> {
        let filter = filter.clone();
        let found = self.readers.scan_rows(move |database| queries::list(database, &filter, most));
        Ok(rows::read_page(found.await?, &self.cipher, most))
    }

    async fn events_after(
        &self,
        number: u64,
        most: usize,
    ) -> Result<Vec<NumberedEvent>, StoreError> {
        self.readers.ask(|database| queries::events_after(database, number, most)).await
    }

    async fn count_in_play(&self) -> Result<Vec<StateCount>, StoreError> {
        self.readers.scan_rows(queries::count_in_play).await
    }

    async fn open_orders(&self) -> Result<Vec<OpenOrders>, StoreError> {
        self.readers.scan_rows(queries::open_orders).await
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.readers.ask(queries::ping).await?;
        self.writer.ping().await
    }
}

fn count_unpaid(database: &rusqlite::Connection) -> Result<u64, StoreError> {
    queries::count_unpaid(database).map_err(|error| connection::store_error(&error))
}

impl SqliteStore {
    /// Drops up to `most` rows, a few at a time.
    async fn drop_all(&self, which: RowsToDrop, most: u64) -> Result<u64, StoreError> {
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
