//! Connections that read.
//!
//! A read by key takes a few microseconds from memory, less than it takes to wake another
//! thread, so it runs where it is asked for. What looks through many rows runs on a thread for
//! work that blocks.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use order::ports::StoreError;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::connection::connect;
use crate::store::OpenError;

/// As many reads as run at once. More would have to share the processors of most machines.
const READERS: u32 = 4;

pub(super) struct Readers {
    free: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
}

impl Readers {
    pub(super) fn open(path: &Path) -> Result<Self, OpenError> {
        let open = |_| {
            connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
                .map_err(|cause| OpenError::Sqlite { path: path.to_owned(), cause })
        };
        let free = (0..READERS).map(open).collect::<Result<Vec<_>, _>>()?;
        let permits = Arc::new(Semaphore::new(free.len()));
        Ok(Self { free: Arc::new(Mutex::new(free)), permits })
    }

    /// Returns when every read has ended and no connection is open any more.
    pub(super) async fn close(&self) {
        let all = self.permits.acquire_many(READERS).await;
        self.permits.close();
        self.free().clear();
        drop(all);
    }

    /// A read by key.
    pub(super) async fn ask<T>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let reader = self.reader().await?;
        question(reader.database())
    }

    /// A read that may look through many rows.
    pub(super) async fn scan_rows<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let reader = self.reader().await?;
        let answer = tokio::task::spawn_blocking(move || question(reader.database()));
        answer.await.unwrap_or(Err(StoreError::Lost))
    }

    async fn reader(&self) -> Result<Reader, StoreError> {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let permit = permit.map_err(|_| StoreError::Lost)?;
        let database = self.free().pop().ok_or(StoreError::Lost)?;
        Ok(Reader { database: Some(database), free: Arc::clone(&self.free), _permit: permit })
    }

    fn free(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection for one read, which goes back when it is dropped.
struct Reader {
    database: Option<Connection>,
    free: Arc<Mutex<Vec<Connection>>>,
    _permit: OwnedSemaphorePermit,
}

impl Reader {
    const fn database(&self) -> &Connection {
        self.database.as_ref().expect("it is there until it is dropped")
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.extend(self.database.take());
    }
}
