//! What is asked of a SQLite file without changing it.

use std::sync::LazyLock;

use order::event::Event;
use order::ids::{OperationKey, OrderId, Timestamp};
use order::lifecycle::{Offered, Order};
use order::payment::PaymentKey;
use order::ports::{OpenOrders, StoreError};
use rusqlite::types::{FromSql, Type, ValueRef};
use rusqlite::{Connection, OptionalExtension, Params};

use super::book::Names;
use super::connection::trouble;
use super::sheets;
use crate::store::rows::{Cells, Row, read_id, read_open, sql};

static NEWEST: LazyLock<String> =
    LazyLock::new(|| sql::select("WHERE operation_key = ?1 ORDER BY generation DESC LIMIT 1"));
static FIND: LazyLock<String> = LazyLock::new(|| sql::select("WHERE id = ?1"));

/// What the table and a sheet have of the same name. The sheet is read first: what leaves
/// it goes into the table.
pub(super) struct Found {
    pub(super) row: Option<Row>,
    pub(super) offer: Option<Order<Offered>>,
}

pub(super) fn newest(
    database: &Connection,
    key: OperationKey,
    sheet: Option<i64>,
) -> Result<Found, StoreError> {
    let offer = on(database, sheet, |names| names.operation == key)?;
    Ok(Found { row: one(database, &NEWEST, [key.0])?, offer })
}

pub(super) fn find(
    database: &Connection,
    id: OrderId,
    sheet: Option<i64>,
) -> Result<Found, StoreError> {
    let offer = on(database, sheet, |names| names.order == id)?;
    Ok(Found { row: one(database, &FIND, [id.to_string()])?, offer })
}

fn on(
    database: &Connection,
    sheet: Option<i64>,
    wanted: impl Fn(Names) -> bool,
) -> Result<Option<Order<Offered>>, StoreError> {
    let Some(sheet) = sheet else { return Ok(None) };
    sheets::find(database, sheet, wanted).map_err(|error| trouble(&error))
}

/// The orders that these keys belong to.
pub(super) fn bound(
    database: &Connection,
    keys: &[PaymentKey],
) -> Result<Vec<OrderId>, StoreError> {
    let owner = "SELECT order_id FROM payment_keys WHERE key = ?1";
    let mut owner = database.prepare_cached(owner).map_err(|error| trouble(&error))?;
    let mut ask = |key: &PaymentKey| {
        let name = owner.query_row([key.0], |row| row.get::<_, String>(0)).optional();
        name.map_err(|error| trouble(&error))?.as_deref().map(read_id).transpose()
    };
    keys.iter().filter_map(|key| ask(key).transpose()).collect()
}

pub(super) fn open_orders(database: &Connection) -> Result<Vec<OpenOrders>, StoreError> {
    let mut statement = database.prepare(sql::OPEN_ORDERS).map_err(|error| trouble(&error))?;
    let open = statement.query_map([], |row| Ok(read_open(row))).and_then(Iterator::collect);
    open.map_err(|error| trouble(&error)).and_then(|open: Vec<_>| open.into_iter().collect())
}

/// Along the order's chain, which outlives the row of an order that nobody paid.
static EVENTS: &str = "WITH RECURSIVE
    last (sequence) AS (SELECT coalesce(
        (SELECT last_event FROM orders WHERE id = ?1),
        (SELECT last_event FROM loose_chains WHERE order_id = ?1)
    )),
    chain (sequence, previous) AS (
        SELECT sequence, previous FROM events JOIN last USING (sequence)
        UNION ALL
        SELECT events.sequence, events.previous FROM events
        JOIN chain ON chain.previous = events.sequence
    )
    SELECT version, at, actor, state, evidence FROM events
    WHERE sequence IN (SELECT sequence FROM chain) ORDER BY sequence";

pub(super) fn events(database: &Connection, id: OrderId) -> Result<Vec<Event>, StoreError> {
    let mut statement = database.prepare_cached(EVENTS).map_err(|error| trouble(&error))?;
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Event {
            order: id,
            version: row.get::<_, i64>(0)?.cast_unsigned(),
            at: Timestamp(row.get::<_, i64>(1)?.cast_unsigned()),
            actor: row.get(2)?,
            state: row.get(3)?,
            evidence: row.get(4)?,
        })
    };
    let events = statement.query_map([id.to_string()], read).and_then(Iterator::collect);
    events.map_err(|error| trouble(&error))
}

pub(super) fn count_unpaid(database: &Connection) -> Result<u64, StoreError> {
    let count = "SELECT count(*) FROM orders WHERE state IN ('offered', 'lapsed')";
    let count = database.query_row(count, [], |row| row.get::<_, i64>(0));
    count.map(i64::cast_unsigned).map_err(|error| trouble(&error))
}

pub(super) fn ping(database: &Connection) -> Result<(), StoreError> {
    let asked = database.query_row("SELECT max(version) FROM schema_migrations", [], |_| Ok(()));
    asked.map_err(|error| trouble(&error))
}

fn one(
    database: &Connection,
    sql: &str,
    parameters: impl Params,
) -> Result<Option<Row>, StoreError> {
    let mut statement = database.prepare_cached(sql).map_err(|error| trouble(&error))?;
    let row = statement.query_row(parameters, |row| Ok(Row::from_cells(row))).optional();
    row.map_err(|error| trouble(&error))?.transpose()
}

impl Cells for rusqlite::Row<'_> {
    fn integer(&self, place: usize) -> Result<Option<i64>, StoreError> {
        cell(self, place)
    }

    fn text(&self, place: usize) -> Result<Option<String>, StoreError> {
        cell(self, place)
    }

    fn blob(&self, place: usize) -> Result<Option<Vec<u8>>, StoreError> {
        cell(self, place)
    }
}

fn cell<T: FromSql>(row: &rusqlite::Row<'_>, place: usize) -> Result<Option<T>, StoreError> {
    // Most cells of most rows are empty.
    match row.get_ref(place) {
        Ok(ValueRef::Null) => Ok(None),
        Ok(filled) => T::column_result(filled).map(Some).map_err(|error| {
            let found: Type = filled.data_type();
            tracing::error!(fault = %error, %found, place, "a cell in the store cannot be read");
            StoreError::Corrupt
        }),
        Err(error) => Err(trouble(&error)),
    }
}

#[cfg(test)]
mod tests {
    use order::contract::samples::offer;
    use rusqlite::params;

    use super::*;
    use crate::store::migration;

    fn step(database: &Connection, version: i64) {
        let step = migration::SQLITE.iter().find(|step| step.version == version).unwrap();
        database.execute_batch(step.sql).unwrap();
    }

    fn versions(database: &Connection, id: OrderId) -> Vec<u64> {
        events(database, id).unwrap().iter().map(|event| event.version).collect()
    }

    #[test]
    fn events_of_the_first_schema_are_found_in_their_chain_and_outlive_their_order() {
        let database = Connection::open_in_memory().unwrap();
        step(&database, 1);
        let ids = [offer(1).id, offer(2).id];
        for (sequence, version) in [(1, 1), (2, 4), (3, 5)] {
            for id in ids {
                let append = "INSERT INTO events VALUES (?1, ?2, ?3, 0, 'desk', 'offered', '')";
                database.execute(append, params![id.to_string(), sequence, version]).unwrap();
            }
        }
        let row = "INSERT INTO orders (id, version, state, operation_key, generation, origin, \
             fingerprint, seller, created_at, updated_at, expires_at, planned_at, looks) \
             VALUES (?1, 5, 'offered', x'', 0, '', x'', '', 0, 0, 0, 0, 0)";
        for id in ids {
            database.execute(row, [id.to_string()]).unwrap();
        }
        step(&database, 2);
        assert_eq!(versions(&database, ids[0]), [1, 4, 5]);
        database.execute("DELETE FROM orders WHERE id = ?1", [ids[0].to_string()]).unwrap();
        assert_eq!(versions(&database, ids[0]), [1, 4, 5]);
        assert_eq!(versions(&database, ids[1]), [1, 4, 5]);
        assert_eq!(versions(&database, offer(3).id), [0; 0]);
    }
}
