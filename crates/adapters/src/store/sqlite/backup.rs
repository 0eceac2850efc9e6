//! A copy of the database while it is in use.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::connection::{self, OWNER_ONLY};

/// What a backup contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackupReport {
    /// Orders for which a payment began.
    pub orders: u64,
    pub events: u64,
    pub bytes: u64,
}

/// Why a backup was not made. There is no file then.
#[derive(Debug)]
pub enum BackupError {
    Exists(PathBuf),
    File {
        path: PathBuf,
        cause: io::Error,
    },
    Database(rusqlite::Error),
    /// The copy was made and does not pass SQLite's check.
    Damaged(String),
    /// Backups of PostgreSQL are made with its own tools.
    OtherStore,
}

impl fmt::Display for BackupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exists(path) => {
                write!(f, "{} exists. Name a file that does not exist.", path.display())
            }
            Self::File { path, cause } => {
                write!(f, "{} cannot be written: {cause}", path.display())
            }
            Self::Database(error) => write!(f, "The database cannot be copied: {error}"),
            Self::Damaged(found) => write!(f, "The copy is damaged: {found}"),
            Self::OtherStore => {
                f.write_str("The orders are in PostgreSQL. Make the backup with pg_dump.")
            }
        }
    }
}

/// Writes a consistent copy of the database at `source` to `target`, which must not exist, and
/// verifies it. Writers go on meanwhile: the copy has everything that was committed before it
/// began. It appears under its name only when it is complete, verified and on disk.
pub(super) fn backup(source: &Path, target: &Path) -> Result<BackupReport, BackupError> {
    if target.exists() {
        return Err(BackupError::Exists(target.to_owned()));
    }
    let mut name = target.as_os_str().to_owned();
    name.push(".partial");
    let partial = PathBuf::from(name);
    let made = copy(source, &partial).and_then(|()| verify(&partial)).and_then(|report| {
        keep(&partial, target).map_err(|cause| file_error(target, cause))?;
        Ok(report)
    });
    if made.is_err() {
        let _ = fs::remove_file(&partial);
    }
    made
}

fn copy(source: &Path, partial: &Path) -> Result<(), BackupError> {
    // SQLite fills an empty file that exists, so that it is private from the beginning.
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(OWNER_ONLY)
        .open(partial)
        .map_err(|cause| file_error(partial, cause))?;
    let database = connection::connect(source, OpenFlags::SQLITE_OPEN_READ_ONLY);
    let database = database.map_err(BackupError::Database)?;
    let target = partial.to_str().ok_or_else(|| {
        file_error(partial, io::Error::new(io::ErrorKind::InvalidInput, "the name is not UTF-8"))
    })?;
    database.execute("VACUUM INTO ?1", [target]).map(drop).map_err(BackupError::Database)
}

fn verify(partial: &Path) -> Result<BackupReport, BackupError> {
    let database = Connection::open_with_flags(partial, OpenFlags::SQLITE_OPEN_READ_ONLY);
    let database = database.map_err(BackupError::Database)?;
    let text = |sql: &str| database.query_row(sql, [], |row| row.get::<_, String>(0));
    let found = text("PRAGMA integrity_check(1)").map_err(BackupError::Database)?;
    if found != "ok" {
        return Err(BackupError::Damaged(found));
    }
    let count = |sql: &str| {
        let count = database.query_row(sql, [], |row| row.get::<_, i64>(0));
        count.map(i64::cast_unsigned).map_err(BackupError::Database)
    };
    let bytes = fs::metadata(partial).map_err(|cause| file_error(partial, cause))?.len();
    Ok(BackupReport {
        orders: count("SELECT count(*) FROM orders WHERE begun")?,
        events: count("SELECT count(*) FROM events")?,
        bytes,
    })
}

/// On disk under its name, also after a power failure.
fn keep(partial: &Path, target: &Path) -> io::Result<()> {
    File::open(partial)?.sync_all()?;
    fs::hard_link(partial, target)?;
    fs::remove_file(partial)?;
    match target.parent() {
        Some(folder) if folder != Path::new("") => File::open(folder)?.sync_all(),
        Some(_) | None => File::open(".")?.sync_all(),
    }
}

fn file_error(path: &Path, cause: io::Error) -> BackupError {
    BackupError::File { path: path.to_owned(), cause }
}
