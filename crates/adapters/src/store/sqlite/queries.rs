//! Read-only queries.

use std::sync::LazyLock;

use order::lifecycle::event::Event;
use order::model::ids::{OperationKey, OrderId};
use order::model::payment::PaymentKey;
use order::operator::filter::OrderFilter;
use order::ports::{NumberedEvent, OpenOrders, StateCount, StoreError};
use rusqlite::types::{FromSql, Type, ValueRef};
use rusqlite::{Connection, OptionalExtension, Params, Statement, params_from_iter};

use super::connection::store_error;
use crate::store::rows::sql::Dialect;
use crate::store::rows::{self, Cells, Row, read_id, seconds_cell, sql};

static NEWEST: LazyLock<String> =
    LazyLock::new(|| sql::select("WHERE operation_key = ?1 ORDER BY generation DESC LIMIT 1"));
static LIST: LazyLock<String> = LazyLock::new(|| sql::list_orders(Dialect::Sqlite));
static FIND: LazyLock<String> = LazyLock::new(|| sql::select("WHERE id = ?1"));

/// Almost every challenge is for an operation without an order. The short statement that finds
/// this out costs half of the long one, which names every column.
pub(super) fn newest(database: &Connection, key: OperationKey) -> Result<Option<Row>, StoreError> {
    let exists = "SELECT 1 FROM orders WHERE operation_key = ?1";
    let exists = database.prepare_cached(exists).and_then(|mut known| known.exists([key.0]));
    if exists.map_err(|error| store_error(&error))? {
        one(database, &NEWEST, [key.0])
    } else {
        Ok(None)
    }
}

pub(super) fn find(database: &Connection, id: OrderId) -> Result<Option<Row>, StoreError> {
    by_id(database, &id.to_string())
}

pub(super) fn by_id(database: &Connection, id: &str) -> Result<Option<Row>, StoreError> {
    one(database, &FIND, [id])
}

/// The orders that these keys belong to.
pub(super) fn bound(
    database: &Connection,
    keys: &[PaymentKey],
) -> Result<Vec<OrderId>, StoreError> {
    let owner = "SELECT order_id FROM payment_keys WHERE key = ?1";
    let mut owner = database.prepare_cached(owner).map_err(|error| store_error(&error))?;
    let mut ask = |key: &PaymentKey| {
        let name = owner.query_row([key.0], |row| row.get::<_, String>(0)).optional();
        name.map_err(|error| store_error(&error))?.as_deref().map(read_id).transpose()
    };
    keys.iter().filter_map(|key| ask(key).transpose()).collect()
}

pub(super) fn open_orders(database: &Connection) -> Result<Vec<OpenOrders>, StoreError> {
    let mut statement = database.prepare(sql::OPEN_ORDERS).map_err(|error| store_error(&error))?;
    collect(&mut statement, [], |row| rows::read_open(row))
}

/// Along the order's chain.
static EVENTS: &str = "WITH RECURSIVE
    last (sequence) AS (SELECT last_event FROM orders WHERE id = ?1),
    chain (sequence, previous) AS (
        SELECT sequence, previous FROM events JOIN last USING (sequence)
        UNION ALL
        SELECT events.sequence, events.previous FROM events
        JOIN chain ON chain.previous = events.sequence
    )
    SELECT version, at, actor, state, evidence, note FROM events
    WHERE sequence IN (SELECT sequence FROM chain) ORDER BY sequence";

pub(super) fn events(database: &Connection, id: OrderId) -> Result<Vec<Event>, StoreError> {
    let mut statement = database.prepare_cached(EVENTS).map_err(|error| store_error(&error))?;
    collect(&mut statement, [id.to_string()], |row| rows::read_event(row, id, 0))
}

pub(super) fn events_after(
    database: &Connection,
    number: u64,
    most: usize,
) -> Result<Vec<NumberedEvent>, StoreError> {
    let after = "SELECT sequence, order_id, version, at, actor, state, evidence, note FROM events \
         WHERE sequence > ?1 ORDER BY sequence LIMIT ?2";
    let mut statement = database.prepare_cached(after).map_err(|error| store_error(&error))?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    collect(&mut statement, [seconds_cell(number), most], |row| rows::read_numbered(row))
}

pub(super) fn list(
    database: &Connection,
    filter: &OrderFilter,
    most: usize,
) -> Result<Vec<Row>, StoreError> {
    let mut statement = database.prepare_cached(&LIST).map_err(|error| store_error(&error))?;
    let values = sql::list_values(filter, most);
    collect(&mut statement, params_from_iter(values), |row| Row::from_cells(row))
}

pub(super) fn count_in_play(database: &Connection) -> Result<Vec<StateCount>, StoreError> {
    let statement = database.prepare(&sql::count_in_play());
    let mut statement = statement.map_err(|error| store_error(&error))?;
    collect(&mut statement, [], |row| rows::read_count(row))
}

fn collect<T>(
    statement: &mut Statement<'_>,
    parameters: impl Params,
    read: impl Fn(&rusqlite::Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let found = statement.query_map(parameters, |row| Ok(read(row))).and_then(Iterator::collect);
    found.map_err(|error| store_error(&error)).and_then(|all: Vec<_>| all.into_iter().collect())
}

pub(super) fn count_unpaid(database: &Connection) -> rusqlite::Result<u64> {
    let count = "SELECT count(*) FROM orders \
         WHERE state IN ('offered', 'lapsed') AND begun = 0";
    let count = database.query_row(count, [], |row| row.get::<_, i64>(0));
    count.map(i64::cast_unsigned)
}

pub(super) fn ping(database: &Connection) -> Result<(), StoreError> {
    let asked = database.query_row("SELECT max(version) FROM schema_migrations", [], |_| Ok(()));
    asked.map_err(|error| store_error(&error))
}

fn one(
    database: &Connection,
    sql: &str,
    parameters: impl Params,
) -> Result<Option<Row>, StoreError> {
    let mut statement = database.prepare_cached(sql).map_err(|error| store_error(&error))?;
    let row = statement.query_row(parameters, |row| Ok(Row::from_cells(row))).optional();
    row.map_err(|error| store_error(&error))?.transpose()
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
        Err(error) => Err(store_error(&error)),
    }
}
