//! Where the file has which order, known without looking into it.
//!
//! Most requests are for a card that nobody has asked for before, and this says so
//! from memory. It knows the sheet of every offer, and of the orders in the table it
//! has a filter. It may send somebody to look in vain, and never says of an order that
//! is there that it is not: what is about to be in the table is noted before it is
//! committed, and what was on a sheet is forgotten after.

use std::sync::{Mutex, MutexGuard, PoisonError};

use order::ids::{OperationKey, OrderId};
use order::lifecycle::{Offered, Order};
use rusqlite::Connection;

use super::filter::Filter;
use super::index::Index;
use super::slips;

/// So few that who waits for the book need not be put to sleep meanwhile.
const NAMES_AT_ONCE: usize = 16;

#[derive(Default)]
pub(super) struct Book {
    pages: Mutex<Pages>,
}

#[derive(Default)]
struct Pages {
    /// The sheet of each offer. Keys are the first bytes of what an order or its
    /// operation is called; should two begin alike, one of them is not found and made
    /// again when it is asked for, which gives the same offer.
    orders: Index,
    operations: Index,
    /// The operations of all orders in the table.
    table: Filter,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Open,
    Closed,
}

/// Where something may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whereabouts {
    Nowhere,
    /// In the table, or on this sheet.
    Perhaps {
        sheet: Option<i64>,
    },
}

/// What an offer and its operation are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Names {
    pub(super) order: OrderId,
    pub(super) operation: OperationKey,
}

impl From<&Order<Offered>> for Names {
    fn from(offer: &Order<Offered>) -> Self {
        Self { order: offer.id, operation: offer.operation.key }
    }
}

/// What a transaction does to the sheets, told to the book once it is committed.
#[derive(Default)]
pub(super) struct Changes {
    pub(super) written: Vec<(i64, Names)>,
    pub(super) dropped: Vec<(i64, Names)>,
    /// They have a row in the table now.
    pub(super) moved: Vec<Names>,
}

impl Book {
    /// Reads through the whole file once.
    pub(super) fn open(database: &Connection) -> rusqlite::Result<Self> {
        let rows: i64 = database.query_row("SELECT count(*) FROM orders", [], |row| row.get(0))?;
        let mut pages = Pages {
            table: Filter::with_room_for(usize::try_from(rows).unwrap_or(0)),
            ..Pages::default()
        };
        let mut keys = database.prepare("SELECT operation_key FROM orders")?;
        let mut keys = keys.query([])?;
        while let Some(row) = keys.next()? {
            match row.get(0) {
                Ok(key) => pages.table.add(&OperationKey(key)),
                // No request has such a key, so nobody will ask for it.
                Err(error) => tracing::error!(fault = %error, "an operation's key cannot be read"),
            }
        }
        let mut sheets =
            database.prepare("SELECT sequence, offers FROM sheets ORDER BY sequence")?;
        let mut sheets = sheets.query([])?;
        while let Some(row) = sheets.next()? {
            pages.index(row.get(0)?, row.get_ref(1)?.as_blob()?);
        }
        Ok(Self { pages: Mutex::new(pages) })
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        // Nothing here panics half-way, so what a dead thread left is whole.
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on it knows nothing, and sends everybody to the file, which is closed.
    pub(super) fn close(&self) {
        self.pages().phase = Phase::Closed;
    }

    pub(super) fn of_operation(&self, key: &OperationKey) -> Whereabouts {
        let pages = self.pages();
        pages.whereabouts(pages.operations.sheet(start(&key.0)), key)
    }

    pub(super) fn of_order(&self, names: Names) -> Whereabouts {
        let pages = self.pages();
        pages.whereabouts(pages.orders.sheet(start(&names.order.bytes())), &names.operation)
    }

    /// The sheet of an order that may have none, and may be in the table.
    pub(super) fn sheet_of(&self, id: OrderId) -> Option<i64> {
        self.pages().orders.sheet(start(&id.bytes()))
    }

    /// An order of this operation is about to be in the table.
    pub(super) fn announce(&self, key: &OperationKey) {
        self.pages().table.add(key);
    }

    /// A few at a time, since every challenge looks into the book and would wait.
    pub(super) fn commit(&self, changes: &Changes) {
        for some in changes.written.chunks(NAMES_AT_ONCE) {
            let mut pages = self.pages();
            some.iter().for_each(|(sheet, names)| pages.write(*sheet, *names));
        }
        for some in changes.dropped.chunks(NAMES_AT_ONCE) {
            let mut pages = self.pages();
            some.iter().for_each(|(sheet, names)| pages.forget(*sheet, *names));
        }
        let mut pages = self.pages();
        for names in &changes.moved {
            if let Some(sheet) = pages.orders.sheet(start(&names.order.bytes())) {
                pages.forget(sheet, *names);
            }
        }
    }

    /// Those that are on no sheet yet: an offer that is made twice stays as it was made
    /// first.
    pub(super) fn unwritten(&self, mut offers: Vec<Order<Offered>>) -> Vec<Order<Offered>> {
        offers.retain(|offer| self.sheet_of(offer.id).is_none());
        offers
    }

    /// How many offers there are on sheets.
    pub(super) fn offers(&self) -> u64 {
        u64::try_from(self.pages().orders.length).expect("a length fits 64 bits")
    }
}

impl Pages {
    fn whereabouts(&self, sheet: Option<i64>, key: &OperationKey) -> Whereabouts {
        if sheet.is_none() && !self.table.may_have(key) && self.phase == Phase::Open {
            Whereabouts::Nowhere
        } else {
            Whereabouts::Perhaps { sheet }
        }
    }

    fn index(&mut self, sheet: i64, bytes: &[u8]) {
        for slip in slips::read(bytes) {
            let Ok(offer) = slip.and_then(|slip| slip.offer()) else {
                // They are only offers: whoever asks again gets the same.
                tracing::error!(sheet, "offers cannot be read, and are made again when asked for");
                return;
            };
            self.write(sheet, Names::from(&offer));
        }
    }

    fn write(&mut self, sheet: i64, names: Names) {
        self.orders.insert(start(&names.order.bytes()), sheet);
        self.operations.insert(start(&names.operation.0), sheet);
    }

    fn forget(&mut self, sheet: i64, names: Names) {
        self.orders.remove(start(&names.order.bytes()), sheet);
        self.operations.remove(start(&names.operation.0), sheet);
    }
}

fn start(name: &[u8]) -> u64 {
    name.first_chunk().map_or(0, |first| u64::from_be_bytes(*first))
}

#[cfg(test)]
mod tests {
    use order::contract::samples::offer;

    use super::*;

    fn names(seed: u64) -> Names {
        Names::from(&offer(seed))
    }

    fn book(written: &[(i64, u64)]) -> Book {
        let book = Book::default();
        let written = written.iter().map(|(sheet, seed)| (*sheet, names(*seed))).collect();
        book.commit(&Changes { written, ..Changes::default() });
        book
    }

    fn found(book: &Book, seed: u64) -> [Whereabouts; 2] {
        let names = names(seed);
        [book.of_order(names), book.of_operation(&names.operation)]
    }

    #[test]
    fn an_offer_is_on_its_sheet_until_it_is_dropped_from_there() {
        let book = book(&[(1, 1), (2, 2)]);
        let on = |sheet| [Whereabouts::Perhaps { sheet }; 2];
        assert_eq!(found(&book, 1), on(Some(1)));
        assert_eq!(found(&book, 3), [Whereabouts::Nowhere; 2]);
        assert_eq!((book.sheet_of(offer(2).id), book.offers()), (Some(2), 2));
        assert_eq!(book.unwritten(vec![offer(2), offer(3)]), [offer(3)]);
        let elsewhere = vec![(2, names(1))];
        book.commit(&Changes { dropped: elsewhere, ..Changes::default() });
        assert_eq!(found(&book, 1), on(Some(1)), "that was another copy");
        book.commit(&Changes { dropped: vec![(1, names(1))], ..Changes::default() });
        assert_eq!(found(&book, 1), [Whereabouts::Nowhere; 2]);
        assert_eq!(book.offers(), 1);
    }

    #[test]
    fn what_has_moved_into_the_table_is_looked_for_there() {
        let book = book(&[(1, 1)]);
        book.announce(&names(1).operation);
        book.commit(&Changes { moved: vec![names(1), names(2)], ..Changes::default() });
        assert_eq!(found(&book, 1), [Whereabouts::Perhaps { sheet: None }; 2]);
        assert_eq!(found(&book, 2), [Whereabouts::Nowhere; 2]);
        assert_eq!(book.offers(), 0);
    }

    #[test]
    fn a_closed_book_says_of_nothing_that_it_is_new() {
        let book = book(&[]);
        book.close();
        assert_eq!(found(&book, 1), [Whereabouts::Perhaps { sheet: None }; 2]);
    }
}
