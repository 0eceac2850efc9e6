//! SQL generated from the columns, for either database.

use order::lifecycle::Stored;

use super::columns::COLUMNS;

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
    format!(
        "{insert} ON CONFLICT (id) DO UPDATE SET {sets}, begun = true \
         WHERE orders.version = excluded.version - 1"
    )
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
    let quoted = |state: &&str| format!("'{state}'");
    Stored::RECOVERED_AT_ONCE.iter().map(quoted).collect::<Vec<_>>().join(", ")
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
     AND state <> 'unfulfilled_undelivered' \
     AND (state <> 'mailed' OR standing = 'provisional') GROUP BY 1, 2, 3";

/// How many values [`upsert`] takes; further ones are numbered from here.
pub(in crate::store) fn width() -> usize {
    COLUMNS.len()
}

fn list(columns: &[&str], write: impl Fn(&str) -> String) -> String {
    columns.iter().map(|column| write(column)).collect::<Vec<_>>().join(", ")
}
