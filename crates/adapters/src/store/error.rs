//! Why a store cannot be opened, and what to do about it.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;

#[derive(Debug)]
pub enum OpenError {
    /// Another process works on this file.
    InUse { path: PathBuf },
    /// A file or folder that we cannot use.
    File { path: PathBuf, cause: std::io::Error },
    /// SQLite does not open it.
    Sqlite { path: PathBuf, cause: rusqlite::Error },
    /// The text is no PostgreSQL address. It may hold a password, so it is not
    /// repeated.
    InvalidUrl,
    /// The URL asks for TLS in a way that we do not support.
    Tls(UrlProblem),
    /// PostgreSQL does not answer, or does not let us in.
    Postgres { cause: Box<dyn Error + Send + Sync> },
    /// It was written by a build from before the first release.
    Older { found: i64 },
    /// It was written by a later version of this program.
    Newer { found: i64, known: i64 },
    /// It was written with other keys.
    OtherKeys,
    /// Its payments are on the emulated chains and ours on real ones, or the reverse.
    OtherPayments { has: String },
    /// A row holds what this version does not know.
    Unreadable,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse { path } => write!(
                f,
                "another process has {} open: stop it first; a SQLite database serves one process, \
                 PostgreSQL any number",
                path.display()
            ),
            Self::File { path, cause } => write!(
                f,
                "cannot use {}: {cause}; check that the folder exists and that this user may write",
                path.display()
            ),
            Self::Sqlite { path, cause } => write!(
                f,
                "cannot open the database {}: {cause}; if it is damaged, keep it and its -wal file \
                 and restore a copy",
                path.display()
            ),
            Self::Older { found } => write!(
                f,
                "the database has schema {found}, from before the first release, and cannot be \
                 brought up to date: begin with a new one"
            ),
            Self::InvalidUrl => write!(
                f,
                "the database URL cannot be parsed: write it as \
                 postgresql://user:password@host:5432/name"
            ),
            Self::Tls(problem) => write!(f, "{problem}"),
            Self::Postgres { cause } => {
                write!(f, "cannot use PostgreSQL: {cause}")?;
                let mut deeper = cause.source();
                while let Some(reason) = deeper {
                    write!(f, ": {reason}")?;
                    deeper = reason.source();
                }
                write!(
                    f,
                    "; check that it runs and that its address, password and certificate are right"
                )
            }
            Self::Newer { found, known } => write!(
                f,
                "the database is of schema {found} and this program knows {known}: run the version \
                 that wrote it, or a later one"
            ),
            Self::OtherKeys => write!(
                f,
                "the database was written with another identity key: put the first line of the old \
                 key file back, or nothing in it can be recognised"
            ),
            Self::OtherPayments { has } => write!(
                f,
                "the database has payments on {has} chains, and payments.kind is for others: set \
                 another server.data or server.store, so that test orders and real ones stay apart"
            ),
            Self::Unreadable => {
                write!(f, "an order in the database cannot be read: run the version that wrote it")
            }
        }
    }
}

impl Error for OpenError {}

/// What is wrong with the TLS parameters of a PostgreSQL URL. No text repeats a value except the
/// path of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UrlProblem {
    /// A mode of libpq that does not check who the server is.
    UncheckedTls,
    /// Not a mode of libpq.
    TlsMode,
    /// Another parameter of libpq, such as the certificate of a client.
    TlsOption,
    /// An authority without TLS.
    UnusedAuthority,
    /// The file of authorities cannot be used.
    Authority { path: PathBuf, why: String },
}

impl fmt::Display for UrlProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UncheckedTls => write!(
                f,
                "sslmode allow, prefer, require and verify-ca do not check that the server is the \
                 right one: write sslmode=verify-full, with sslrootcert=FILE for an authority of \
                 your own, or sslmode=disable to connect without TLS"
            ),
            Self::TlsMode => write!(
                f,
                "the database URL has an unknown sslmode: write sslmode=verify-full or \
                 sslmode=disable"
            ),
            Self::TlsOption => write!(
                f,
                "of the ssl parameters in the database URL only sslmode, sslrootcert and \
                 sslnegotiation are supported: remove the others; client certificates cannot be used"
            ),
            Self::UnusedAuthority => write!(
                f,
                "sslrootcert has an effect only with sslmode=verify-full: add that, or remove it"
            ),
            Self::Authority { path, why } => write!(
                f,
                "cannot use the authorities in {} (sslrootcert): {why}; write the path of a PEM file",
                path.display()
            ),
        }
    }
}

impl From<UrlProblem> for OpenError {
    fn from(problem: UrlProblem) -> Self {
        Self::Tls(problem)
    }
}

pub(super) fn postgres(cause: impl Error + Send + Sync + 'static) -> OpenError {
    OpenError::Postgres { cause: Box::new(cause) }
}
