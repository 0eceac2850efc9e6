//! Executes commands inside the writer's transaction.

use std::sync::LazyLock;

use order::lifecycle::event::Event;
use order::lifecycle::schedule::CLOCK_SKEW_SECONDS;
use order::model::ids::Timestamp;
use order::model::payment::PaymentKey;
use order::ports::{StoreError, TidyLimits};
use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, ToSql, params, params_from_iter};

use super::command::{Answer, Claim, Claimed, Command, OrderWrite, OtherInPlay, RowsToDrop};
use super::queries;
use crate::store::rows::sql::{self, Dialect};
use crate::store::rows::{self, CellValue, Row, seconds_cell};

/// Answers a command after the commit.
pub(super) type Reply = Box<dyn FnOnce(Result<(), StoreError>)>;

/// When a commit waits for the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SyncMode {
    Always,
    /// At the next commit that must. For data that can be recreated.
    Later,
}

/// After so many new identifiers the cap is enforced, and not only when the expiry job runs:
/// a flood must not outgrow it in between.
const OFFERS_BETWEEN_CAPS: i64 = 10_000;

static UPSERT: LazyLock<String> = LazyLock::new(|| sql::upsert(Dialect::Sqlite));
static INSERT_OFFER: LazyLock<String> = LazyLock::new(|| sql::insert_offer(Dialect::Sqlite));
/// Orders that are due, by index, and orders that were planned by a clock that ran ahead. Those
/// in play are few and come first.
static DUE: LazyLock<String> = LazyLock::new(|| {
    let in_play = sql::in_play();
    sql::select(&format!(
        "WHERE id IN (
             SELECT id FROM (
                 SELECT id, due_at, 0 AS rank FROM orders
                     WHERE state IN ({in_play}) AND due_at IS NOT NULL
                         AND (due_at <= ?1 OR planned_at > ?2)
                 UNION
                 SELECT * FROM (SELECT id, due_at, 1 AS rank FROM orders
                     WHERE due_at <= ?1 AND state NOT IN ({in_play})
                     ORDER BY due_at LIMIT ?3)
                 UNION
                 SELECT * FROM (SELECT id, due_at, 1 AS rank FROM orders
                     WHERE due_at IS NOT NULL AND planned_at > ?2 AND state NOT IN ({in_play})
                     ORDER BY due_at LIMIT ?3)
             ) ORDER BY rank, due_at LIMIT ?3
         ) ORDER BY state NOT IN ({in_play}), due_at"
    ))
});

static OTHER_IN_PLAY: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT 1 FROM orders WHERE operation_key = ?1 AND id <> ?2 AND state IN ({})",
        sql::in_play()
    )
});

impl SyncMode {
    pub(super) fn set(&mut self, next: Self, database: &Connection) -> rusqlite::Result<()> {
        if *self != next {
            database.execute_batch(match next {
                Self::Always => "PRAGMA synchronous = FULL",
                Self::Later => "PRAGMA synchronous = NORMAL",
            })?;
            *self = next;
        }
        Ok(())
    }
}

/// A write must be on disk before anything depends on it. A claim need not be, since it ends with
/// a crash, nor an offer, since it can be recreated.
pub(super) fn syncing(commands: &[Command]) -> SyncMode {
    let durable = commands.iter().any(|command| match command {
        Command::Record(..) | Command::Lapse { .. } | Command::Write(..) => true,
        Command::Offer(..)
        | Command::Claim(..)
        | Command::Drop { .. }
        | Command::Ping(_)
        | Command::Close(_) => false,
    });
    // mutant: no-fsync
    if durable { SyncMode::Always } else { SyncMode::Later }
}

/// An error here ends the whole transaction; the outcome of a command, such as a lost race, is in
/// its reply.
pub(super) fn command(
    database: &Connection,
    command: Command,
    replies: &mut Vec<Reply>,
) -> rusqlite::Result<()> {
    match command {
        Command::Record(next, answer) => {
            // On an error the answer is dropped, which the caller sees.
            replies.push(reply(answer, record(database, *next)?));
        }
        Command::Offer(row, answer) => replies.push(reply(answer, offer(database, *row)?)),
        Command::Claim(what, answer) => {
            replies.push(reply(answer, Ok(claim(database, &what)?)));
        }
        Command::Lapse { now, most, answer } => {
            replies.push(reply(answer, Ok(lapse(database, now, most)?)));
        }
        Command::Drop { which: RowsToDrop::LapsedBefore(before), most, answer } => {
            replies.push(reply(answer, Ok(drop_lapsed(database, before, most)?)));
        }
        Command::Drop { which: RowsToDrop::OldestUnpaid, most, answer } => {
            replies.push(reply(answer, Ok(drop_unpaid(database, most)?)));
        }
        Command::Write(write, answer) => {
            write(database)?;
            replies.push(reply(answer, Ok(())));
        }
        Command::Ping(answer) => replies.push(reply(answer, Ok(()))),
        Command::Close(_) => {}
    }
    Ok(())
}

fn reply<T: 'static>(answer: Answer<T>, outcome: Result<T, StoreError>) -> Reply {
    // Even a lost race may depend on a write of this transaction, so the answer is valid only
    // after the commit.
    Box::new(move |committed| {
        let _ = answer.send(committed.and(outcome));
    })
}

/// Writes an offer, unless there is an order of that id, and reads what is there.
fn offer(database: &Connection, row: Row) -> rusqlite::Result<Result<Row, StoreError>> {
    let id = row.id.clone().unwrap_or_default();
    let written =
        database.prepare_cached(&INSERT_OFFER)?.execute(params_from_iter(row.into_values()))?;
    if written == 1 && database.last_insert_rowid() % OFFERS_BETWEEN_CAPS == 0 {
        drop_above(database, TidyLimits::DEFAULT.unpaid_rows_max)?;
    }
    let found = queries::by_id(database, &id);
    Ok(found.and_then(|row| row.ok_or(StoreError::Corrupt)))
}

/// Writes an order atomically: all conditions are checked before the write, and keys that were
/// bound too early are released. There is no other writer, so the checks hold until the commit.
/// (A savepoint for each write would copy every page it touches.)
fn record(database: &Connection, next: OrderWrite) -> rusqlite::Result<Result<(), StoreError>> {
    let OrderWrite { row, keys, event, other_in_play } = next;
    let order = event.order.to_string();
    if other_in_play == OtherInPlay::Possible && has_other_in_play(database, &row)? {
        return Ok(Err(StoreError::Moved));
    }
    let mut bound = Vec::with_capacity(keys.len());
    if bind(database, &keys, &order, &mut bound)? == Bound::Elsewhere {
        let moved = is_stale(database, &row)?;
        unbind(database, &bound)?;
        return Ok(Err(if moved { StoreError::Moved } else { StoreError::PaymentBound }));
    }
    if database.prepare_cached(&UPSERT)?.execute(params_from_iter(row.into_values()))? == 0 {
        unbind(database, &bound)?;
        return Ok(Err(StoreError::Moved));
    }
    append(database, &order, &event)?;
    Ok(Ok(()))
}

/// The owner of a payment's keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    Here,
    Elsewhere,
}

/// Binds unbound keys and records them. Almost all are new, so they are written first and read
/// only if that fails.
fn bind<'a>(
    database: &Connection,
    keys: &'a [PaymentKey],
    order: &str,
    bound: &mut Vec<&'a PaymentKey>,
) -> rusqlite::Result<Bound> {
    let bind = "INSERT INTO payment_keys (key, order_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    let mut bind = database.prepare_cached(bind)?;
    for key in keys {
        if bind.execute(params![key.0, order])? == 1 {
            bound.push(key);
        } else {
            let owner = "SELECT order_id = ?2 FROM payment_keys WHERE key = ?1";
            let mut owner = database.prepare_cached(owner)?;
            if !owner.query_row(params![key.0, order], |row| row.get::<_, bool>(0))? {
                return Ok(Bound::Elsewhere);
            }
        }
    }
    Ok(Bound::Here)
}

fn unbind(database: &Connection, bound: &[&PaymentKey]) -> rusqlite::Result<()> {
    for PaymentKey(key) in bound {
        database.prepare_cached("DELETE FROM payment_keys WHERE key = ?1")?.execute([key])?;
    }
    Ok(())
}

/// Whether the row is not the successor of the one that is there.
fn is_stale(database: &Connection, row: &Row) -> rusqlite::Result<bool> {
    let other = "SELECT 1 FROM orders WHERE id = ?1 AND version <> ?2 - 1";
    database.prepare_cached(other)?.exists(params![row.id, row.version])
}

/// Whether another order of the same operation is in play. There is no other writer, so this
/// holds until the commit; PostgreSQL needs an index for it.
fn has_other_in_play(database: &Connection, row: &Row) -> rusqlite::Result<bool> {
    database.prepare_cached(&OTHER_IN_PLAY)?.exists(params![row.operation_key, row.id])
}

/// Appends to the event log and to the order's chain of events.
fn append(database: &Connection, order: &str, event: &Event) -> rusqlite::Result<()> {
    let append = "INSERT INTO events (previous, order_id, version, at, actor, state, evidence, note) \
         VALUES ((SELECT last_event FROM orders WHERE id = ?1), ?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let (version, at) = (event.version.cast_signed(), event.at.0.cast_signed());
    let Event { actor, state, evidence, note, .. } = event;
    let cells = params![order, version, at, actor, state, evidence, note];
    let sequence = database.prepare_cached(append)?.insert(cells)?;
    let remember = "UPDATE orders SET last_event = ?2 WHERE id = ?1";
    database.prepare_cached(remember)?.execute(params![order, sequence]).map(drop)
}

/// The orders of dead workers became due when the file was opened.
fn claim(database: &Connection, claim: &Claim) -> rusqlite::Result<Claimed> {
    let Claim { worker, now, until, most, ref except, ref cipher } = *claim;
    let limit = i64::try_from(most.saturating_add(except.len())).unwrap_or(i64::MAX);
    let ahead = seconds_cell(now.plus(CLOCK_SKEW_SECONDS).0);
    let mut due = database.prepare_cached(&DUE)?;
    let due =
        due.query_map(params![seconds_cell(now.0), ahead, limit], |row| Ok(Row::from_cells(row)))?;
    // Rows that cannot be read are logged and must not block the others.
    let due = due.collect::<rusqlite::Result<Vec<_>>>()?;
    let due = due.into_iter().filter_map(Result::ok);
    let due = due.filter(|row| !row.id.as_ref().is_some_and(|id| except.contains(id)));
    let (mut taken, left): (Vec<Row>, Vec<Row>) =
        due.take(most).partition(|row| rows::is_decryptable(row, cipher));
    let take = "UPDATE orders SET due_at = ?2, planned_at = ?3, worker = ?4, \
         version = version + 1 WHERE id = ?1";
    let mut take = database.prepare_cached(take)?;
    for row in &mut taken {
        let (until, now) = (until.0.cast_signed(), now.0.cast_signed());
        take.execute(params![row.id, until, now, worker.bytes()])?;
        row.due_at = Some(until);
        row.planned_at = Some(now);
        row.worker = Some(worker.bytes().to_vec());
        row.version = row.version.map(|version| version + 1);
    }
    let undecryptable = left.into_iter().filter_map(|row| row.id).collect();
    Ok(Claimed { taken, undecryptable })
}

/// `Order::lapse` for many orders.
fn lapse(database: &Connection, now: Timestamp, most: u64) -> rusqlite::Result<u64> {
    let lapse = "UPDATE orders SET state = 'lapsed', version = version + 1, \
         updated_at = expires_at, due_at = NULL, planned_at = 0, looks = 0 \
         WHERE id IN (SELECT id FROM orders WHERE state = 'offered' AND origin = 'explicit' \
             AND expires_at <= ?1 ORDER BY expires_at LIMIT ?2)";
    database.prepare_cached(lapse)?.execute([seconds_cell(now.0), seconds_cell(most)]).map(count)
}

fn drop_lapsed(database: &Connection, before: Timestamp, most: u64) -> rusqlite::Result<u64> {
    let old = "DELETE FROM orders WHERE id IN (SELECT id FROM orders \
         WHERE state = 'lapsed' AND begun = 0 AND updated_at < ?1 \
         ORDER BY updated_at LIMIT ?2)";
    database.prepare_cached(old)?.execute([seconds_cell(before.0), seconds_cell(most)]).map(count)
}

fn drop_unpaid(database: &Connection, most: u64) -> rusqlite::Result<u64> {
    let oldest = "DELETE FROM orders WHERE id IN (SELECT id FROM orders \
         WHERE state IN ('offered', 'lapsed') AND begun = 0 \
         ORDER BY created_at, id LIMIT ?1)";
    database.prepare_cached(oldest)?.execute([seconds_cell(most)]).map(count)
}

/// Drops the oldest unpaid rows above the cap.
fn drop_above(database: &Connection, most: u64) -> rusqlite::Result<u64> {
    let unpaid = queries::count_unpaid(database)?;
    drop_unpaid(database, unpaid.saturating_sub(most))
}

fn count(rows: usize) -> u64 {
    u64::try_from(rows).expect("a count fits 64 bits")
}

impl ToSql for CellValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Integer(cell) => cell.to_sql(),
            Self::Text(cell) => cell.to_sql(),
            Self::Blob(cell) => cell.to_sql(),
        }
    }
}

#[cfg(test)]
mod tests {
    use order::lifecycle::event::Actor;
    use order::model::ids::WorkerId;
    use order::testing::contract::samples::{NOW, begun, named, named_operation, offer, offer_of};
    use tokio::sync::oneshot;

    use super::*;
    use crate::keys::Keyring;
    use crate::store::encryption::ColumnCipher;
    use crate::store::migration;

    fn record() -> Command {
        let next = begun(offer(1), 1).into();
        let event = Event::of(&next, 1, &Actor::Checkout);
        let other_in_play = OtherInPlay::Possible;
        let row = rows::offer_row(offer(1));
        let next = OrderWrite { row, keys: Vec::new(), event, other_in_play };
        Command::Record(Box::new(next), oneshot::channel().0)
    }

    fn claim() -> Command {
        let worker = WorkerId::from_bytes([1; 16]);
        let cipher = ColumnCipher::new(&Keyring::from_text(&"42".repeat(32)).unwrap());
        let except = Vec::new();
        let claim = Claim { worker, now: NOW, until: NOW, most: 1, except, cipher };
        Command::Claim(Box::new(claim), oneshot::channel().0)
    }

    #[test]
    fn a_commit_with_a_write_or_a_lapse_waits_for_the_disk() {
        let lapse = Command::Lapse { now: NOW, most: 1, answer: oneshot::channel().0 };
        assert_eq!(syncing(&[claim(), record()]), SyncMode::Always);
        assert_eq!(syncing(&[lapse]), SyncMode::Always);
        let offer = Command::Offer(Box::new(rows::offer_row(offer(1))), oneshot::channel().0);
        assert_eq!(syncing(&[offer]), SyncMode::Later);
        assert_eq!(syncing(&[claim()]), SyncMode::Later);
        assert_eq!(syncing(&[]), SyncMode::Later);
    }

    #[test]
    fn the_oldest_identifiers_above_the_cap_are_dropped_and_orders_with_a_payment_are_not() {
        let database = Connection::open_in_memory().unwrap();
        for step in migration::SQLITE {
            database.execute_batch(step.sql).unwrap();
        }
        for seed in 0..10 {
            let fresh = offer_of(named_operation(seed), NOW.plus(seed));
            super::offer(&database, rows::offer_row(fresh)).unwrap().unwrap();
        }
        let begun = "UPDATE orders SET begun = true WHERE id = ?1";
        database.execute(begun, [named(0).id.to_string()]).unwrap();
        assert_eq!(drop_above(&database, 4), Ok(5));
        assert_eq!(drop_above(&database, 4), Ok(0));
        for seed in 0..10 {
            let found = queries::by_id(&database, &named(seed).id.to_string()).unwrap();
            assert_eq!(found.is_some(), seed == 0 || seed > 5, "{seed}");
        }
    }

    #[test]
    fn the_sync_mode_is_set_in_the_database() {
        let database = Connection::open_in_memory().unwrap();
        let told = || database.query_row("PRAGMA synchronous", [], |row| row.get::<_, i64>(0));
        let (normal, full) = (1, 2);
        let mut syncing = SyncMode::Always;
        for (next, expected) in [(SyncMode::Later, normal), (SyncMode::Always, full)] {
            syncing.set(next, &database).unwrap();
            assert_eq!(told(), Ok(expected));
        }
    }
}
