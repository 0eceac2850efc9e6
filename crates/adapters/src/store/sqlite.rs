//! Orders in one SQLite file, for one process.
//!
//! One thread writes. It takes every move that waits, applies each as a whole or
//! not at all, commits once, and then answers all: a disk that syncs six hundred
//! times a second serves many thousand moves. Reads have their own connections
//! and wait for nobody. Offers are written behind, and seen from memory until
//! then.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use order::event::{Actor, Event};
use order::ids::{OperationKey, OrderId, Timestamp};
use order::lifecycle::{Offered, Order, Stored};
use order::payment::PaymentKey;
use order::ports::{Store, StoreError, Tidied, TidyLimits};

mod apply;
mod checkpoint;
mod command;
mod connection;
mod queries;
mod readers;
mod writer;

use self::command::{Move, Rival, Unneeded};
use self::readers::Readers;
use self::writer::Writer;
use super::OpenError;
use super::pending::{Novelty, Pending, newer};
use super::rows::{self, Row};
use crate::keys::Keyring;
use crate::seal::Seals;

/// How many rows one step of a tidying touches, so that moves wait a few
/// milliseconds for it at most.
const TIDY_ROWS: u64 = 500;

pub struct SqliteStore {
    seals: Seals,
    pending: Arc<Pending>,
    readers: Readers,
    writer: Writer,
}

impl SqliteStore {
    /// Opens or makes the database, brings its schema up to date, and takes it
    /// for this process alone. It blocks for as long as that takes.
    pub fn open(path: &Path, keyring: &Keyring) -> Result<Self, OpenError> {
        let opened = connection::open(path, keyring)?;
        let pending = Arc::new(Pending::default());
        let readers = Readers::start(path)?;
        let writer = Writer::start(path, opened, Arc::clone(&pending))?;
        Ok(Self { seals: Seals::new(keyring), pending, readers, writer })
    }

    /// Writes what is still in memory, and lets go of the file. Whatever is
    /// asked afterwards is answered with [`StoreError::Busy`].
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
        // Memory first: what leaves it is in the database already.
        let before = self.pending.before_a_look();
        let waiting = self.pending.newest(key);
        let key = *key;
        let row = self.readers.ask(move |database| queries::newest(database, key)).await?;
        if row.is_none() {
            self.pending.unknown(key, before);
        }
        Ok(newer(self.read(row)?, waiting))
    }

    async fn find(&self, id: OrderId) -> Result<Option<Stored>, StoreError> {
        let waiting = self.pending.find(id);
        let row = self.readers.ask(move |database| queries::find(database, id)).await?;
        Ok(newer(self.read(row)?, waiting))
    }

    async fn offer(&self, fresh: Order<Offered>) -> Result<Stored, StoreError> {
        let id = fresh.id;
        // Memory first here too: if somebody else's offer of this id has just
        // left it, it is in the database by the time we look there.
        let kept = self.pending.keep(fresh)?;
        if kept.waiting == 1 {
            self.writer.wake();
        }
        match kept.novelty {
            Novelty::Certain => return Ok(kept.offer.into()),
            Novelty::Unsure => {}
        }
        let row = self.readers.ask(move |database| queries::find(database, id)).await?;
        Ok(self.read(row)?.unwrap_or_else(|| kept.offer.into()))
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
        let keys = keys.to_vec();
        self.readers.ask(move |database| queries::bound(database, &keys)).await
    }

    async fn claim(
        &self,
        now: Timestamp,
        until: Timestamp,
        most: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        let claimed = self.writer.claim(now, until, most).await?;
        // An order that cannot be read is in the log, and must not keep the
        // others from being looked after.
        Ok(claimed.into_iter().filter_map(|row| rows::read(row, &self.seals).ok()).collect())
    }

    async fn tidy(&self, now: Timestamp, limits: TidyLimits) -> Result<Tidied, StoreError> {
        self.writer.flush().await?;
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
        let unpaid = self.readers.ask(queries::count_unpaid).await?;
        let above = unpaid.saturating_sub(limits.unpaid_rows_max);
        tidied.dropped += self.drop_all(Unneeded::OldestUnpaid, above).await?;
        Ok(tidied)
    }

    async fn events(&self, id: OrderId) -> Result<Vec<Event>, StoreError> {
        self.readers.ask(move |database| queries::events(database, id)).await
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
            if gone < step {
                break;
            }
        }
        Ok(dropped)
    }
}
