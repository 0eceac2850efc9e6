//! Checks the store: readable, and its schema.

use adapters::store::postgres::PostgresStore;
use adapters::store::schema::{FileUse, StoredSchema};
use adapters::store::sqlite::SqliteStore;

use super::report::LiveCheck;
use crate::config::store_location::StoreLocation;

const SUBJECT: &str = "store: schema";

pub(super) async fn check(location: &StoreLocation) -> Vec<LiveCheck> {
    let read = match location {
        StoreLocation::Sqlite(path) => SqliteStore::schema_in(path),
        StoreLocation::Postgres(location) => PostgresStore::schema_at(location.connection.reveal())
            .await
            .map(|schema| (schema, FileUse::Free)),
    };
    let (schema, file_use) = match read {
        Ok(found) => found,
        Err(error) => {
            let remedy = "Check server.store and the rights of this user.";
            return vec![LiveCheck::fail(SUBJECT, error, remedy)];
        }
    };
    let kind = location.kind();
    let schema = match schema {
        StoredSchema::Missing => format!("{kind}: no tables yet; the first start creates them"),
        StoredSchema::Current(version) => format!("{kind}: version {version}, current"),
        StoredSchema::Earlier { found, known } => {
            format!("{kind}: version {found}; the next start migrates it to {known}")
        }
    };
    let mut checks = vec![LiveCheck::ok(SUBJECT, schema)];
    if file_use == FileUse::InUse {
        checks.push(LiveCheck::ok("store: use", "a running service has the file open"));
    }
    checks
}
