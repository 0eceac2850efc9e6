//! Opens a SQLite file: locked, private, migrated.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use order::ports::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Transaction};

use crate::keys::Keyring;
use crate::store::OpenError;
use crate::store::identity::identity;
use crate::store::migration;
use crate::store::rows::sql;
use crate::store::schema::{self, FileUse, StoredSchema};

/// There is no other writer; only a checkpoint can block, for a short time.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);
pub(super) const OWNER_ONLY: u32 = 0o600;
/// Statements that a connection keeps prepared; all that we have fit.
const STATEMENTS: usize = 32;

const VERSION: &str = "SELECT coalesce(max(version), 0) FROM schema_migrations";

/// The writing connection, and the file lock.
pub(super) struct OpenedDatabase {
    pub(super) database: Connection,
    pub(super) lock: File,
}

pub(super) fn open(path: &Path, keyring: &Keyring) -> Result<OpenedDatabase, OpenError> {
    let lock = lock(path)?;
    private_file(path).map_err(|cause| OpenError::File { path: path.to_owned(), cause })?;
    let fault = |cause| OpenError::Sqlite { path: path.to_owned(), cause };
    let mut database = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(fault)?;
    // Freed bytes are overwritten; the log stays small once it has been large;
    // and checkpoints are left to their own thread. The cache is small, as a commit
    // that splits a page looks through all of it; what falls out of it is still in
    // the memory of the operating system.
    let settings = "PRAGMA secure_delete = ON;
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = FULL;
        PRAGMA wal_autocheckpoint = 0;
        PRAGMA journal_size_limit = 67108864;
        PRAGMA cache_size = -4096;
        PRAGMA temp_store = MEMORY;";
    database.execute_batch(settings).map_err(fault)?;
    let transaction = database.transaction().map_err(fault)?;
    migrate(&transaction, fault)?;
    check_identity(&transaction, keyring, fault)?;
    free_orphans(&transaction).map_err(fault)?;
    transaction.commit().map_err(fault)?;
    Ok(OpenedDatabase { database, lock })
}

/// The schema of a file, and whether a process has its lock.
pub(super) fn schema(path: &Path) -> Result<(StoredSchema, FileUse), OpenError> {
    if !path.exists() {
        return Ok((StoredSchema::Missing, FileUse::Free));
    }
    let fault = |cause| OpenError::Sqlite { path: path.to_owned(), cause };
    let database = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(fault)?;
    let table = "SELECT count(*) FROM sqlite_master WHERE name = 'schema_migrations'";
    let tables: i64 = database.query_row(table, [], |row| row.get(0)).map_err(fault)?;
    let found = match tables {
        0 => 0,
        _ => database.query_row(VERSION, [], |row| row.get(0)).map_err(fault)?,
    };
    // A lock file that cannot be opened belongs to no process that runs as this user.
    let held = File::open(lock_file(path))
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)));
    let file_use = if held { FileUse::InUse } else { FileUse::Free };
    Ok((schema::classify(migration::SQLITE, found)?, file_use))
}

/// A second connection to a file that is open already.
pub(super) fn connect(path: &Path, mode: OpenFlags) -> rusqlite::Result<Connection> {
    // Each connection stays on one thread at a time, so it needs no lock of its own.
    let database = Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    database.busy_timeout(BUSY_TIMEOUT)?;
    database.set_prepared_statement_cache_capacity(STATEMENTS);
    // A statement keeps its plan. Otherwise SQLite plans some of ours anew for
    // each value that they are given, which takes longer than the reading.
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    database.execute_batch("PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;")?;
    Ok(database)
}

/// Runs a statement that takes no values and is run often.
pub(super) fn run(database: &Connection, sql: &str) -> rusqlite::Result<()> {
    database.prepare_cached(sql)?.execute([]).map(drop)
}

/// Maps and logs an error.
pub(super) fn store_error(error: &rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            tracing::error!(fault = %error, "the database is damaged");
            StoreError::Corrupt
        }
        Some(_) | None => {
            tracing::warn!(fault = %error, "the database did not answer");
            StoreError::Lost
        }
    }
}

/// The operating system releases the lock when the process ends.
fn lock(path: &Path) -> Result<File, OpenError> {
    let name = lock_file(path);
    let fault = |cause| OpenError::File { path: name.clone(), cause };
    let file = private_file(&name).map_err(fault)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse { path: path.to_owned() }),
        Err(TryLockError::Error(cause)) => Err(fault(cause)),
    }
}

fn lock_file(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}

/// SQLite gives its other files the same permissions as this one.
fn private_file(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).append(true).create(true).mode(OWNER_ONLY).open(path)
}

fn migrate(
    transaction: &Transaction<'_>,
    fault: impl Fn(rusqlite::Error) -> OpenError,
) -> Result<(), OpenError> {
    transaction.execute_batch(migration::TABLE).map_err(&fault)?;
    let found = transaction.query_row(VERSION, [], |row| row.get(0)).map_err(&fault)?;
    for step in migration::after(migration::SQLITE, found)? {
        transaction.execute_batch(step.sql).map_err(&fault)?;
        let done = "INSERT INTO schema_migrations (version) VALUES (?1)";
        transaction.execute(done, [step.version]).map_err(&fault)?;
    }
    Ok(())
}

/// We have the lock, so every earlier worker is dead: its orders are due now, first of all.
fn free_orphans(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let states = sql::recovered_at_once();
    let free = format!(
        "UPDATE orders SET due_at = 0, worker = NULL \
         WHERE worker IS NOT NULL AND state IN ({states})"
    );
    transaction.execute(&free, []).map(drop)
}

fn check_identity(
    transaction: &Transaction<'_>,
    keyring: &Keyring,
    fault: impl Fn(rusqlite::Error) -> OpenError,
) -> Result<(), OpenError> {
    let kept = transaction
        .query_row("SELECT identity FROM keyring", [], |row| row.get::<_, String>(0))
        .optional()
        .map_err(&fault)?;
    let identity = identity(keyring, kept.as_deref())?;
    let write = match kept {
        Some(kept) if kept == identity => return Ok(()),
        Some(_) => "UPDATE keyring SET identity = ?1",
        None => "INSERT INTO keyring (identity) VALUES (?1)",
    };
    transaction.execute(write, [&identity]).map(drop).map_err(&fault)
}
