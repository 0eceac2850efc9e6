//! Reads the events of all orders by number, without passing over one that is committed late.
//!
//! A number is drawn before its transaction commits, so an event may become visible after one
//! with a higher number. A reader that has passed the higher one would never see it. Therefore
//! the transactions that may have drawn a lower number are waited for. A writer locks the table
//! before it draws a number and until its commit is visible, so `pg_locks` names all of them;
//! writers do nothing for readers.

use std::sync::LazyLock;
use std::time::Duration;

use order::ports::{NumberedEvent, StoreError};
use tokio_postgres::types::ToSql;

use super::connection::Server;
use super::queries::cell;
use crate::store::rows;

/// A write takes some milliseconds.
const WRITER_PAUSE: Duration = Duration::from_millis(5);
/// After a second the store counts as busy.
const WRITER_LOOKS: u32 = 200;

const WRITES_EVENTS: &str = "granted AND mode = 'RowExclusiveLock' AND locktype = 'relation'
    AND relation = 'events'::regclass
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

/// The newest visible number, and the transactions that may have drawn a lower one.
static WRITERS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT coalesce(max(sequence), 0),
             ARRAY(SELECT virtualtransaction FROM pg_locks WHERE {WRITES_EVENTS})
         FROM events"
    )
});

/// Those of these transactions that have not ended.
static OPEN_WRITERS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT ARRAY(
             SELECT virtualtransaction FROM pg_locks
             WHERE {WRITES_EVENTS} AND virtualtransaction = ANY($1::text[])
         )"
    )
});

const BETWEEN: &str = "SELECT sequence, order_id, version, at, actor, state, evidence, note
    FROM events WHERE sequence > $1 AND sequence <= $2 ORDER BY sequence LIMIT $3";

/// Events after this number, oldest first. No event with a number up to the last one returned
/// becomes visible later.
pub(super) async fn after(
    server: &Server,
    number: i64,
    most: i64,
) -> Result<Vec<NumberedEvent>, StoreError> {
    let newest = complete_up_to(server, number).await?;
    if newest <= number {
        return Ok(Vec::new());
    }
    let cells: [&(dyn ToSql + Sync); 3] = [&number, &newest, &most];
    server.all(BETWEEN, &cells).await?.iter().map(rows::read_numbered).collect()
}

/// The number up to which a query that begins now sees every event.
async fn complete_up_to(server: &Server, known: i64) -> Result<i64, StoreError> {
    let found = server.all(&WRITERS, &[]).await?;
    let row = found.first().ok_or(StoreError::Lost)?;
    let newest = cell(row, 0)?;
    if newest <= known {
        return Ok(newest);
    }
    let mut writers: Vec<String> = cell(row, 1)?;
    for _ in 0..WRITER_LOOKS {
        if writers.is_empty() {
            return Ok(newest);
        }
        tokio::time::sleep(WRITER_PAUSE).await;
        let found = server.all(&OPEN_WRITERS, &[&writers]).await?;
        writers = cell(found.first().ok_or(StoreError::Lost)?, 0)?;
    }
    Err(StoreError::Lost)
}
