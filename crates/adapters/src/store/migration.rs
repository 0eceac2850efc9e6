//! The steps that a database's schema has come by, one file each.

use super::OpenError;

/// One step: its number, and the SQL that takes it.
pub(super) struct Migration {
    pub(super) version: i64,
    pub(super) sql: &'static str,
}

pub(super) const SQLITE: &[Migration] = &[
    Migration { version: 1, sql: include_str!("migrations/sqlite/0001_orders.sql") },
    Migration { version: 2, sql: include_str!("migrations/sqlite/0002_events_in_a_chain.sql") },
    Migration { version: 3, sql: include_str!("migrations/sqlite/0003_offers_on_sheets.sql") },
    Migration { version: 4, sql: include_str!("migrations/sqlite/0004_workers.sql") },
    Migration { version: 5, sql: include_str!("migrations/sqlite/0005_outbox.sql") },
    Migration { version: 6, sql: include_str!("migrations/sqlite/0006_provider_account.sql") },
];

pub(super) const POSTGRES: &[Migration] = &[
    Migration { version: 1, sql: include_str!("migrations/postgres/0001_orders.sql") },
    Migration { version: 2, sql: include_str!("migrations/postgres/0002_workers.sql") },
    Migration { version: 3, sql: include_str!("migrations/postgres/0003_outbox.sql") },
    Migration { version: 4, sql: include_str!("migrations/postgres/0004_provider_budget.sql") },
    Migration { version: 5, sql: include_str!("migrations/postgres/0005_provider_account.sql") },
];

/// Both databases understand this.
pub(super) const TABLE: &str = "CREATE TABLE IF NOT EXISTS schema_migrations \
     (version BIGINT PRIMARY KEY NOT NULL, applied_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP)";

/// What is left to do for a database that has come as far as `found`.
pub(super) fn after(
    steps: &'static [Migration],
    found: i64,
) -> Result<impl Iterator<Item = &'static Migration>, OpenError> {
    let known = steps.last().map_or(0, |step| step.version);
    if found > known {
        return Err(OpenError::Newer { found, known });
    }
    Ok(steps.iter().filter(move |step| step.version > found))
}
