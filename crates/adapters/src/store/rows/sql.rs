//! SQL generated from the columns, for either database.

use order::lifecycle::Stored;
use order::model::ids::Timestamp;
use order::operator::filter::{
    ATTENTION_FINALITY_SECONDS, ATTENTION_LOOKS, AttentionFilter, OrderFilter,
};

use super::columns::{COLUMNS, CellValue, seconds_cell};
use super::write::address;

/// The placeholder syntax of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    fn mark(self, number: usize) -> String {
        match self {
            Self::Sqlite => format!("?{number}"),
            Self::Postgres => format!("${number}"),
        }
    }
}

/// The names of all columns, each preceded by `prefix`.
pub(in crate::store) fn columns(prefix: &str) -> String {
    list(COLUMNS, |column| format!("{prefix}{column}"))
}

pub(in crate::store) fn select(rest: &str) -> String {
    format!("SELECT {} FROM orders {rest}", columns(""))
}

/// Writes a row whose version is one more than that of the row it replaces, or that replaces
/// nothing: most orders have no row before their first payment.
pub(in crate::store) fn upsert(dialect: Dialect) -> String {
    let sets = list(&changing(), |column| format!("{column} = excluded.{column}"));
    let insert = insert(dialect, ", begun", ", true");
    // begin mutant: old-version-written
    format!(
        "{insert} ON CONFLICT (id) DO UPDATE SET {sets}, begun = true \
         WHERE orders.version = excluded.version - 1"
    )
    // end mutant
}

/// The columns that may change. Leaving out the others avoids index updates.
fn changing() -> Vec<&'static str> {
    let fixed =
        ["id", "operation_key", "generation", "origin", "fingerprint", "seller", "created_at"];
    COLUMNS.iter().filter(|column| !fixed.contains(*column)).copied().collect()
}

/// Writes an offer, unless there is an order of that id.
pub(in crate::store) fn insert_offer(dialect: Dialect) -> String {
    format!("{} ON CONFLICT DO NOTHING", insert(dialect, "", ""))
}

/// A new row, with further columns and their values.
fn insert(dialect: Dialect, further: &str, values: &str) -> String {
    let names = columns("");
    let marks = (1..=COLUMNS.len()).map(|number| dialect.mark(number)).collect::<Vec<_>>();
    format!("INSERT INTO orders ({names}{further}) VALUES ({}{values})", marks.join(", "))
}

/// The states of the orders that are examined at once when their worker dies, as a list.
pub(in crate::store) fn recovered_at_once() -> String {
    quoted(Stored::RECOVERED_AT_ONCE)
}

fn quoted(states: &[&str]) -> String {
    list(states, |state| format!("'{state}'"))
}

/// Makes orders due whose card was refused and that nothing works on.
pub(in crate::store) fn hasten_refused(dialect: Dialect) -> String {
    let (now, state) = (dialect.mark(1), Stored::REFUSED_CARD);
    format!(
        "UPDATE orders SET due_at = {now}, planned_at = {now} \
         WHERE due_at > {now} AND worker IS NULL AND state = '{state}'"
    )
}

/// Open orders by the provider's account, the way of paying and the network.
pub(in crate::store) const OPEN_ORDERS: &str = "SELECT provider_account, tender, network, count(*) FROM orders \
     WHERE due_at IS NOT NULL AND tender IS NOT NULL \
     AND state NOT IN ('unfulfilled_undelivered', 'unfulfilled_erased') \
     AND (state <> 'mailed' OR standing = 'provisional') GROUP BY 1, 2, 3";

/// The orders that an operator's filter admits, the newest first. Conditions that the filter
/// leaves open are passed over: state, since, until, payer, the last order of the page before
/// (its time and id), and the time at which orders need attention.
pub(in crate::store) fn list_orders(dialect: Dialect) -> String {
    let mark = |number| dialect.mark(number);
    let (integer, text) = match dialect {
        Dialect::Sqlite => ("", ""),
        Dialect::Postgres => ("::bigint", "::text"),
    };
    let (state, since, until, payer) = (mark(1), mark(2), mark(3), mark(4));
    let (last_at, last_id, now, most) = (mark(5), mark(6), mark(7), mark(8));
    let (looks, seconds) = (ATTENTION_LOOKS, ATTENTION_FINALITY_SECONDS);
    select(&format!(
        "WHERE begun AND ({state}{text} IS NULL OR state = {state}) \
         AND ({since}{integer} IS NULL OR created_at >= {since}) \
         AND ({until}{integer} IS NULL OR created_at < {until}) \
         AND ({payer}{text} IS NULL OR payer = {payer}) \
         AND ({last_at}{integer} IS NULL OR (created_at, id) < ({last_at}, {last_id}{text})) \
         AND ({now}{integer} IS NULL OR (acknowledged_at IS NULL AND due_at IS NOT NULL AND ( \
             state IN ('unfulfilled_lost', 'unfulfilled_undelivered', 'unfulfilled_erased') \
             OR (looks >= {looks} AND state IN \
                 ('settling', 'unconfirmed', 'submitting', 'unfulfilled_refused')) \
             OR (state = 'mailed' AND (standing = 'reversed' \
                 OR (standing = 'provisional' AND settled_at < {now} - {seconds})))))) \
         ORDER BY created_at DESC, id DESC LIMIT {most}"
    ))
}

/// Orders in play by state, and since when the oldest is. The index of the orders in play has the
/// same condition.
pub(in crate::store) fn count_in_play() -> String {
    format!(
        "SELECT state, count(*), min(created_at) FROM orders WHERE state IN ({}) \
         GROUP BY state ORDER BY state",
        in_play()
    )
}

/// The states of the orders in play, as a list.
pub(in crate::store) fn in_play() -> String {
    quoted(Stored::IN_PLAY)
}

/// The values of [`list_orders`], in the order of its marks. One row more than `most` is read,
/// which tells whether there is a further page.
pub(in crate::store) fn list_values(filter: &OrderFilter, most: usize) -> Vec<CellValue> {
    let time = |time: Option<Timestamp>| CellValue::Integer(time.map(|time| seconds_cell(time.0)));
    let now = match filter.attention {
        AttentionFilter::All => None,
        AttentionFilter::NeedsAttention(now) => Some(now),
    };
    vec![
        CellValue::Text(filter.state.clone()),
        time(filter.since),
        time(filter.until),
        CellValue::Text(filter.payer.map(address)),
        time(filter.after.map(|(at, _)| at)),
        CellValue::Text(filter.after.map(|(_, id)| id.to_string())),
        time(now),
        CellValue::Integer(Some(i64::try_from(most).unwrap_or(i64::MAX).saturating_add(1))),
    ]
}

/// How many values [`upsert`] takes; further ones are numbered from here.
pub(in crate::store) fn width() -> usize {
    COLUMNS.len()
}

fn list(columns: &[&str], write: impl Fn(&str) -> String) -> String {
    columns.iter().map(|column| write(column)).collect::<Vec<_>>().join(", ")
}
