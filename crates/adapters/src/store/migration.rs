//! The steps that a database's schema has come by, one file each.

use super::OpenError;

/// One step: its number, and the SQL that takes it.
pub(super) struct Migration {
    pub(super) version: i64,
    pub(super) sql: &'static str,
}

/// Numbers begin above those of builds from before the first release, whose databases are
/// refused.
pub(super) const SQLITE: &[Migration] =
    &[Migration { version: 103, sql: include_str!("migrations/sqlite/0001_schema.sql") }];

pub(super) const POSTGRES: &[Migration] =
    &[Migration { version: 103, sql: include_str!("migrations/postgres/0001_schema.sql") }];

/// Both databases understand this.
pub(super) const TABLE: &str = "CREATE TABLE IF NOT EXISTS schema_migrations \
     (version BIGINT PRIMARY KEY NOT NULL, applied_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP)";

/// What is left to do for a database that has come as far as `found`.
pub(super) fn after(
    steps: &'static [Migration],
    found: i64,
) -> Result<impl Iterator<Item = &'static Migration>, OpenError> {
    let first = steps.first().map_or(0, |step| step.version);
    if (1..first).contains(&found) {
        return Err(OpenError::Older { found });
    }
    let known = steps.last().map_or(0, |step| step.version);
    if found > known {
        return Err(OpenError::Newer { found, known });
    }
    Ok(steps.iter().filter(move |step| step.version > found))
}
