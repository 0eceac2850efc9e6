//! The statements for PostgreSQL, and how its rows are read.

use std::sync::LazyLock;

use order::model::ids::OrderId;
use order::ports::StoreError;
use tokio_postgres::Row as Answer;
use tokio_postgres::types::{FromSqlOwned, ToSql};

use crate::store::rows::sql::{self, Dialect};
use crate::store::rows::{CellValue, Cells, read_id};

/// The index that rejects a payment key of another order.
pub(super) const PAYMENT_KEYS_INDEX: &str = "payment_keys_pkey";

/// The index that rejects a second order in play.
pub(super) const IN_PLAY_INDEX: &str = "orders_in_play";

/// All times are the server's, so that the clocks of two machines are never compared.
/// Written on the process's own connection, which ends with the process.
pub(super) const BEAT: &str = "INSERT INTO processes (id, backend, heartbeat_at) \
     VALUES ($1, pg_backend_pid(), now()) ON CONFLICT (id) DO UPDATE \
     SET backend = pg_backend_pid(), heartbeat_at = now()";

/// Which orders are examined at once, asked by the worker `$1`: those of a process whose
/// connection has ended, or without a heartbeat in the last 10 seconds: a process that is
/// suspended, or whose machine is gone, may keep its connection. A worker is never dead to
/// itself.
pub(super) static IS_ORPHAN: LazyLock<String> = LazyLock::new(|| {
    format!(
        "state IN ({}) AND worker IS NOT NULL AND worker <> $1 AND NOT EXISTS (
             SELECT FROM processes JOIN pg_stat_activity ON pid = processes.backend
             WHERE processes.id = orders.worker
             AND processes.heartbeat_at > now() - interval '10 seconds'
         )",
        sql::recovered_at_once()
    )
});

pub(super) static NEWEST: LazyLock<String> =
    LazyLock::new(|| sql::select("WHERE operation_key = $1 ORDER BY generation DESC LIMIT 1"));

pub(super) static FIND: LazyLock<String> = LazyLock::new(|| sql::select("WHERE id = $1"));

pub(super) static BOUND: LazyLock<String> =
    LazyLock::new(|| "SELECT order_id FROM payment_keys WHERE key = ANY($1::bytea[])".to_owned());

/// Writes one order. It writes nothing if the stored version differs, and fails if a key belongs
/// to another order. The keys are read only after the order is locked: until then another write
/// of the same order may be binding them.
pub(super) static RECORD: LazyLock<String> = LazyLock::new(|| {
    let upsert = sql::upsert(Dialect::Postgres);
    let next = |place: usize| format!("${}", sql::width() + place);
    let (keys, at, actor) = (next(1), next(2), next(3));
    let (state, evidence, note) = (next(4), next(5), next(6));
    format!(
        "WITH moved AS ({upsert} RETURNING id, version),
         bound AS (
             INSERT INTO payment_keys (key, order_id)
             SELECT given.key, moved.id FROM moved, unnest({keys}::bytea[]) AS given (key)
             WHERE NOT EXISTS (
                 SELECT FROM payment_keys AS kept
                 WHERE kept.key = given.key AND kept.order_id = moved.id
             )
             ORDER BY given.key
         )
         INSERT INTO events (order_id, version, at, actor, state, evidence, note)
         SELECT id, version, {at}::bigint, {actor}::text, {state}::text, {evidence}::text,
             {note}::text
         FROM moved"
    )
});

/// The orders of dead workers, then those that are due: first those in play, then mailed cards.
/// Rows that another process is just taking are passed over. Each version advances, which is
/// what keeps an earlier holder from writing.
pub(super) static CLAIM: LazyLock<String> = LazyLock::new(|| {
    let columns = sql::columns("orders.");
    let names = sql::columns("taken.");
    let orphan = &*IS_ORPHAN;
    let in_play = sql::in_play();
    let is_due = "due_at IS NOT NULL AND (due_at <= $2 OR planned_at > $3)";
    let before = "due_at AS was_due, planned_at AS was_planned, worker AS was_worker";
    format!(
        "WITH orphans AS MATERIALIZED (
             SELECT id, 0 AS rank, {before} FROM orders
             WHERE {orphan} AND id <> ALL($6::text[])
             LIMIT $4 FOR UPDATE SKIP LOCKED
         ), due AS MATERIALIZED (
             SELECT id, 1 AS rank, {before} FROM orders
             WHERE state IN ({in_play}) AND {is_due}
                 AND id NOT IN (SELECT id FROM orphans) AND id <> ALL($6::text[])
             ORDER BY due_at, id LIMIT $4 - (SELECT count(*) FROM orphans)
             FOR UPDATE SKIP LOCKED
         ), mailed AS MATERIALIZED (
             SELECT id, 2 AS rank, {before} FROM orders
             WHERE state NOT IN ({in_play}) AND {is_due} AND id <> ALL($6::text[])
             ORDER BY due_at, id
             LIMIT $4 - (SELECT count(*) FROM orphans) - (SELECT count(*) FROM due)
             FOR UPDATE SKIP LOCKED
         ), chosen AS (
             SELECT * FROM orphans UNION ALL SELECT * FROM due UNION ALL SELECT * FROM mailed
         ), taken AS (
             UPDATE orders
             SET due_at = $5, planned_at = $2, worker = $1, version = version + 1
             FROM chosen WHERE orders.id = chosen.id
             RETURNING {columns}, rank, was_due, was_planned, was_worker
         )
         SELECT {names}, was_due, was_planned, was_worker
         FROM taken ORDER BY rank, was_due, id"
    )
});

/// Undoes the claim of one order, unless it was written since.
pub(super) static RELEASE: LazyLock<String> = LazyLock::new(|| {
    "UPDATE orders SET due_at = $3, planned_at = $4, worker = $5, version = version - 1
     WHERE id = $1 AND version = $2"
        .to_owned()
});

/// What a claim has overwritten.
pub(super) struct BeforeClaim {
    pub(super) due_at: Option<i64>,
    pub(super) planned_at: Option<i64>,
    pub(super) worker: Option<Vec<u8>>,
}

impl BeforeClaim {
    /// Behind the columns of the order.
    pub(super) fn of(row: &Answer) -> Result<Self, StoreError> {
        let place = |number: usize| sql::width() + number;
        let (due_at, planned_at) = (cell(row, place(0))?, cell(row, place(1))?);
        Ok(Self { due_at, planned_at, worker: cell(row, place(2))? })
    }
}

pub(super) static HASTEN_REFUSED: LazyLock<String> =
    LazyLock::new(|| sql::hasten_refused(Dialect::Postgres));

/// `Order::lapse` for many orders. A concurrent settlement has either changed the state already
/// or fails by its version.
pub(super) static LAPSE: LazyLock<String> = LazyLock::new(|| {
    "WITH over AS MATERIALIZED (
         SELECT id FROM orders
         WHERE state = 'offered' AND origin = 'explicit' AND expires_at <= $1
         ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED
     )
     UPDATE orders SET state = 'lapsed', version = version + 1, updated_at = expires_at,
         due_at = NULL, planned_at = 0, looks = 0
     FROM over WHERE orders.id = over.id"
        .to_owned()
});

pub(super) static DROP_LAPSED: LazyLock<String> = LazyLock::new(|| {
    "WITH old AS MATERIALIZED (
             SELECT id FROM orders
             WHERE state = 'lapsed' AND updated_at < $1 AND NOT begun
             ORDER BY updated_at LIMIT $2 FOR UPDATE SKIP LOCKED
         )
         DELETE FROM orders USING old WHERE orders.id = old.id AND NOT orders.begun"
        .to_owned()
});

/// Counts each time, so that two concurrent clean-ups do not drop twice as much.
pub(super) static DROP_UNPAID: LazyLock<String> = LazyLock::new(|| {
    "WITH oldest AS MATERIALIZED (
             SELECT id FROM orders
             WHERE state IN ('offered', 'lapsed') AND NOT begun
             ORDER BY created_at, id
             LIMIT least($2, greatest(0, (
                 SELECT count(*) FROM orders
                 WHERE state IN ('offered', 'lapsed') AND NOT begun
             ) - $1))
             FOR UPDATE SKIP LOCKED
         )
         DELETE FROM orders USING oldest
         WHERE orders.id = oldest.id AND orders.state IN ('offered', 'lapsed')
             AND NOT orders.begun"
        .to_owned()
});

pub(super) static INSERT_OFFER: LazyLock<String> =
    LazyLock::new(|| sql::insert_offer(Dialect::Postgres));

pub(super) static EVENTS: LazyLock<String> = LazyLock::new(|| {
    "SELECT version, at, actor, state, evidence, note FROM events \
     WHERE order_id = $1 ORDER BY sequence"
        .to_owned()
});

pub(super) static LIST: LazyLock<String> = LazyLock::new(|| sql::list_orders(Dialect::Postgres));

pub(super) static PING: LazyLock<String> = LazyLock::new(|| "SELECT 1".to_owned());

pub(super) fn owner(row: &Answer) -> Result<OrderId, StoreError> {
    read_id(&cell::<String>(row, 0)?)
}

pub(super) fn is_true(row: &Answer) -> bool {
    cell(row, 0).unwrap_or_default()
}

pub(super) fn bound(value: &CellValue) -> &(dyn ToSql + Sync) {
    match value {
        CellValue::Integer(cell) => cell,
        CellValue::Text(cell) => cell,
        CellValue::Blob(cell) => cell,
    }
}

impl Cells for Answer {
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

pub(super) fn cell<T: FromSqlOwned>(row: &Answer, place: usize) -> Result<T, StoreError> {
    row.try_get(place).map_err(|error| {
        tracing::error!(fault = %error, place, "a cell in the store cannot be read");
        StoreError::Corrupt
    })
}
