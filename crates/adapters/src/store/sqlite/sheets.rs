//! The table of sheets: how offers come onto it, lapse, and go.

use std::sync::LazyLock;

use order::ids::Timestamp;
use order::lifecycle::{Offered, Order};
use rusqlite::{Connection, OptionalExtension, Params, params, params_from_iter};

use super::book::{Book, Changes, Names};
use super::slips;
use crate::store::rows::{self, moment, sql};

/// So many that a sheet costs little for each, so few that one is found on it soon.
const OFFERS_MAX: usize = 128;

static INSERT_TOMBSTONE: LazyLock<String> = LazyLock::new(sql::insert_tombstone);

/// A sheet of the table.
struct Sheet {
    sequence: i64,
    offers: Vec<Order<Offered>>,
}

/// Writes offers onto new sheets.
pub(super) fn write(
    database: &Connection,
    offers: &[Order<Offered>],
    changes: &mut Changes,
) -> rusqlite::Result<()> {
    let insert = "INSERT INTO sheets (created_at, expires_at, offers) VALUES (?1, ?2, ?3)";
    let mut insert = database.prepare_cached(insert)?;
    for offers in offers.chunks(OFFERS_MAX) {
        let (created, expires) = earliest(offers);
        let sequence = insert.insert(params![created, expires, slips::write(offers)])?;
        changes.written.extend(offers.iter().map(|offer| (sequence, offer.into())));
    }
    Ok(())
}

/// What `Order::lapse` does, to all on one sheet whose time is over. None if there is
/// no such sheet.
pub(super) fn lapse(
    database: &Connection,
    book: &Book,
    now: Timestamp,
    changes: &mut Changes,
) -> rusqlite::Result<Option<u64>> {
    let due = "WHERE expires_at <= ?1 ORDER BY expires_at LIMIT 1";
    let Some(sheet) = select(database, due, [moment(now.0)])? else { return Ok(None) };
    let Sheet { sequence, offers } = sheet;
    let (over, rest): (Vec<_>, Vec<_>) =
        offers.into_iter().partition(|offer| offer.expires_at <= now);
    let mut lapsed = 0;
    let mut insert = database.prepare_cached(&INSERT_TOMBSTONE)?;
    for offer in over {
        let names = Names::from(&offer);
        // One that was written in this very transaction is not in the book yet.
        if book.sheet_of(names.order).is_none_or(|sheet| sheet == sequence) {
            book.announce(&names.operation);
            let row = rows::lapsed_row(offer.lapse(now)).into_offer_values();
            // Whatever the table has by this name has moved on from here.
            lapsed += insert.execute(params_from_iter(row))?;
        }
        changes.dropped.push((sequence, names));
    }
    replace(database, sequence, &rest)?;
    Ok(Some(u64::try_from(lapsed).expect("a count fits 64 bits")))
}

/// When the first offer of the oldest sheet was made.
pub(super) fn oldest(database: &Connection) -> rusqlite::Result<Option<i64>> {
    let oldest = "SELECT created_at FROM sheets ORDER BY sequence LIMIT 1";
    database.prepare_cached(oldest)?.query_row([], |row| row.get(0)).optional()
}

/// Drops up to `most` of the offers that came first.
pub(super) fn drop_oldest(
    database: &Connection,
    book: &Book,
    most: u64,
    changes: &mut Changes,
) -> rusqlite::Result<u64> {
    let mut dropped = 0;
    while dropped < most {
        let Some(sheet) = select(database, "ORDER BY sequence LIMIT 1", [])? else { break };
        let Sheet { sequence, mut offers } = sheet;
        let mut gone = 0;
        for offer in &offers {
            if dropped == most {
                break;
            }
            gone += 1;
            // What has moved on since is not an offer any more.
            dropped += u64::from(book.sheet_of(offer.id) == Some(sequence));
        }
        changes.dropped.extend(offers.drain(..gone).map(|offer| (sequence, Names::from(&offer))));
        replace(database, sequence, &offers)?;
    }
    Ok(dropped)
}

/// Drops what came first if there is too much: a flood must not wait for the next tidying.
pub(super) fn keep_within(
    database: &Connection,
    book: &Book,
    most: u64,
    changes: &mut Changes,
) -> rusqlite::Result<()> {
    let written = u64::try_from(changes.written.len()).expect("a count fits 64 bits");
    match (book.offers() + written).checked_sub(most) {
        None | Some(0) => Ok(()),
        Some(above) => drop_oldest(database, book, above, changes).map(drop),
    }
}

fn select(
    database: &Connection,
    which: &str,
    cells: impl Params,
) -> rusqlite::Result<Option<Sheet>> {
    let select = format!("SELECT sequence, offers FROM sheets {which}");
    let mut select = database.prepare_cached(&select)?;
    let sheet = select.query_row(cells, |row| {
        let sequence = row.get(0)?;
        let offers = slips::read(row.get_ref(1)?.as_blob()?).map(|slip| slip?.offer());
        // What cannot be read goes with the rest: it is made again when asked for.
        let offers = offers.take_while(Result::is_ok).filter_map(Result::ok).collect();
        Ok(Sheet { sequence, offers })
    });
    sheet.optional()
}

/// Leaves these offers on the sheet, or no sheet.
fn replace(
    database: &Connection,
    sequence: i64,
    offers: &[Order<Offered>],
) -> rusqlite::Result<()> {
    if offers.is_empty() {
        database.prepare_cached("DELETE FROM sheets WHERE sequence = ?1")?.execute([sequence])?;
        return Ok(());
    }
    let (created, expires) = earliest(offers);
    let replace =
        "UPDATE sheets SET created_at = ?2, expires_at = ?3, offers = ?4 WHERE sequence = ?1";
    let cells = params![sequence, created, expires, slips::write(offers)];
    database.prepare_cached(replace)?.execute(cells).map(drop)
}

fn earliest(offers: &[Order<Offered>]) -> (i64, i64) {
    let first = |moments: &mut dyn Iterator<Item = u64>| moment(moments.min().unwrap_or(u64::MAX));
    (
        first(&mut offers.iter().map(|offer| offer.created_at.0)),
        first(&mut offers.iter().map(|offer| offer.expires_at.0)),
    )
}

/// The offer on this sheet of which `wanted` is true.
pub(super) fn find(
    database: &Connection,
    sequence: i64,
    wanted: impl Fn(Names) -> bool,
) -> rusqlite::Result<Option<Order<Offered>>> {
    let sheet = "SELECT offers FROM sheets WHERE sequence = ?1";
    let mut sheet = database.prepare_cached(sheet)?;
    let offer = sheet.query_row([sequence], |row| {
        let slips = slips::read(row.get_ref(0)?.as_blob()?);
        let mut slips = slips.take_while(Result::is_ok).filter_map(Result::ok);
        let slip = slips.find(|slip| wanted(Names { order: slip.id, operation: slip.key }));
        Ok(slip.and_then(|slip| slip.offer().ok()))
    });
    Ok(offer.optional()?.flatten())
}

#[cfg(test)]
mod tests {
    use order::contract::samples::offer;

    use super::*;
    use crate::store::migration;

    fn database() -> Connection {
        let database = Connection::open_in_memory().unwrap();
        for step in migration::SQLITE {
            database.execute_batch(step.sql).unwrap();
        }
        database
    }

    fn flood(database: &Connection, book: &Book, seeds: std::ops::Range<u64>) {
        let offers: Vec<_> = seeds.map(offer).collect();
        let mut changes = Changes::default();
        write(database, &offers, &mut changes).unwrap();
        keep_within(database, book, 300, &mut changes).unwrap();
        book.commit(&changes);
    }

    #[test]
    fn a_flood_drives_out_what_came_first_and_nothing_more() {
        let (database, book) = (database(), Book::default());
        flood(&database, &book, 0..200);
        flood(&database, &book, 200..300);
        assert_eq!(book.offers(), 300);
        flood(&database, &book, 300..310);
        let there = |seed| book.sheet_of(offer(seed).id).is_some();
        assert_eq!((book.offers(), there(9), there(10), there(309)), (300, false, true, true));
        let opened = Book::open(&database).unwrap();
        assert_eq!(opened.offers(), 300, "and the file says the same");
    }

    #[test]
    fn what_is_written_and_lapses_in_one_transaction_leaves_a_tombstone() {
        let (database, book) = (database(), Book::default());
        let mut changes = Changes::default();
        write(&database, &[offer(1)], &mut changes).unwrap();
        let now = offer(1).expires_at;
        assert_eq!(lapse(&database, &book, now, &mut changes), Ok(Some(1)));
        assert_eq!(lapse(&database, &book, now, &mut changes), Ok(None));
        book.commit(&changes);
        assert_eq!((book.offers(), oldest(&database)), (0, Ok(None)));
    }
}
