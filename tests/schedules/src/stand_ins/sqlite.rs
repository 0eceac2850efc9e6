//! A database in memory in place of SQLite: it has rows, transactions that may fail, and a lock.

use std::cell::RefCell;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use order::ports::StoreError;

use super::{random, step};

pub mod apply;

pub type Row = u64;

#[derive(Clone, Copy, Debug)]
pub struct Error;

pub type Result<T> = std::result::Result<T, Error>;

pub struct OpenFlags;

impl OpenFlags {
    pub const SQLITE_OPEN_READ_ONLY: Self = Self;
}

pub struct ColumnCipher;

#[derive(Debug)]
pub enum OpenError {
    File { path: PathBuf, cause: std::io::Error },
    Sqlite { path: PathBuf, cause: Error },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, cause } => write!(f, "{}: {cause}", path.display()),
            Self::Sqlite { path, cause } => write!(f, "{}: {cause:?}", path.display()),
        }
    }
}

/// What is left when every connection is closed.
#[derive(Clone, Default)]
pub struct Disk(Arc<Mutex<Content>>);

#[derive(Default)]
pub struct Content {
    pub rows: Vec<Row>,
    pub connections: usize,
    pub failed_commits: usize,
    pub commits: usize,
    pub is_locked: bool,
}

impl Disk {
    pub fn content(&self) -> MutexGuard<'_, Content> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn open(&self) -> OpenedDatabase {
        self.content().is_locked = true;
        OpenedDatabase { database: self.connect(), lock: FileLock(self.clone()) }
    }

    fn connect(&self) -> Connection {
        self.content().connections += 1;
        Connection { disk: self.clone(), transaction: RefCell::default() }
    }
}

pub struct OpenedDatabase {
    pub database: Connection,
    pub lock: FileLock,
}

pub struct FileLock(Disk);

impl Drop for FileLock {
    fn drop(&mut self) {
        self.0.content().is_locked = false;
    }
}

pub struct Connection {
    disk: Disk,
    transaction: RefCell<Option<Vec<Row>>>,
}

impl Connection {
    pub fn insert(&self, row: Row) {
        let mut transaction = self.transaction.borrow_mut();
        transaction.as_mut().expect("it has begun").push(row);
    }

    pub fn is_autocommit(&self) -> bool {
        self.transaction.borrow().is_none()
    }

    /// The only batch is a rollback.
    pub fn execute_batch(&self, _rollback: &str) -> Result<()> {
        *self.transaction.borrow_mut() = None;
        Ok(())
    }

    pub fn close(self) -> std::result::Result<(), (Self, Error)> {
        Ok(())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.disk.content().connections -= 1;
    }
}

/// Begins or commits. One commit of eight fails.
pub fn run(database: &Connection, sql: &str) -> Result<()> {
    step();
    let mut transaction = database.transaction.borrow_mut();
    if sql != "COMMIT" {
        assert!(transaction.replace(Vec::new()).is_none(), "one transaction at a time");
        return Ok(());
    }
    let mut content = database.disk.content();
    if random(8) == 0 {
        content.failed_commits += 1;
        return Err(Error);
    }
    content.commits += 1;
    content.rows.extend(transaction.take().expect("it has begun"));
    Ok(())
}

pub fn store_error(_: &Error) -> StoreError {
    StoreError::Lost
}

thread_local! {
    /// The disk on which the readers open their connections.
    static READ: RefCell<Disk> = RefCell::default();
}

pub fn read_from(disk: &Disk) {
    READ.with_borrow_mut(|read| *read = disk.clone());
}

pub fn connect(_: &Path, _: OpenFlags) -> Result<Connection> {
    Ok(READ.with_borrow(Disk::connect))
}

/// There is no log.
pub struct Checkpoints;

impl Checkpoints {
    pub fn start(_: &Path) -> std::result::Result<Self, OpenError> {
        Ok(Self)
    }

    pub fn keep_small(&self, _: &Connection) {}

    pub fn stop(&mut self) {}
}

pub enum LogSize {
    Empty,
}

impl LogSize {
    pub fn reach(self, _: &Connection) -> i64 {
        step();
        0
    }
}
