//! An order as a flat row: the one list of columns that both databases share.

use order::ports::StoreError;

mod read;
pub(super) mod sql;
mod words;
mod write;

pub(super) use read::{is_decryptable, read, read_id, read_open};
pub(super) use write::{offer_row, write};

/// One cell, ready to be bound to a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Integer(Option<i64>),
    Text(Option<String>),
    Blob(Option<Vec<u8>>),
}

/// One row of an answer, whichever database gave it.
pub(super) trait Cells {
    fn integer(&self, place: usize) -> Result<Option<i64>, StoreError>;
    fn text(&self, place: usize) -> Result<Option<String>, StoreError>;
    fn blob(&self, place: usize) -> Result<Option<Vec<u8>>, StoreError>;
}

/// What a cell may be in Rust.
trait Cell: Sized {
    fn value(cell: Option<Self>) -> Value;
    fn take(cells: &impl Cells, place: usize) -> Result<Option<Self>, StoreError>;
}

macro_rules! cells {
    ($($kind:ident $type:ty, $take:ident;)+) => {
        $(impl Cell for $type {
            fn value(cell: Option<Self>) -> Value {
                Value::$kind(cell)
            }

            fn take(cells: &impl Cells, place: usize) -> Result<Option<Self>, StoreError> {
                cells.$take(place)
            }
        })+
    };
}
cells! {
    Integer i64, integer;
    Text String, text;
    Blob Vec<u8>, blob;
}

macro_rules! columns {
    ($($column:ident: $type:ty,)+) => {
        /// Every column of the table `orders`, by name.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub(super) struct Row {
            $(pub(super) $column: Option<$type>,)+
        }

        pub(super) const COLUMNS: &[&str] = &[$(stringify!($column),)+];

        impl Row {
            /// In the sequence of the columns.
            pub(super) fn into_values(self) -> Vec<Value> {
                vec![$(Cell::value(self.$column),)+]
            }

            pub(super) fn from_cells(cells: &impl Cells) -> Result<Self, StoreError> {
                let mut place = 0..;
                let mut next = || place.next().expect("there is always a next number");
                Ok(Self { $($column: Cell::take(cells, next())?,)+ })
            }
        }
    };
}

columns! {
    id: String,
    version: i64,
    state: String,
    operation_key: Vec<u8>,
    generation: i64,
    origin: String,
    fingerprint: Vec<u8>,
    seller: String,
    created_at: i64,
    updated_at: i64,
    expires_at: i64,
    due_at: i64,
    planned_at: i64,
    looks: i64,
    sealed_card: Vec<u8>,
    quote_cents: i64,
    tender: String,
    network: String,
    payer: String,
    pay_to: String,
    authorized_atomic: i64,
    deadline: i64,
    payment_keys: Vec<u8>,
    credential_digest: Vec<u8>,
    sealed_credential: Vec<u8>,
    sealed_preparation: Vec<u8>,
    charge_atomic: i64,
    settled_transaction: String,
    settled_atomic: i64,
    settled_at: i64,
    finality: String,
    receipt: Vec<u8>,
    standing: String,
    attempt: i64,
    submitting_since: i64,
    doubt: String,
    mailpiece: String,
    mailed_at: i64,
    stage: String,
    stage_at: i64,
    refund_transaction: String,
    refund_at: i64,
    worker: Vec<u8>,
    provider_account: String,
}

/// A moment to compare with. Databases count to 2^63 only, which no clock will
/// reach; what is beyond it is as good as for ever.
pub(super) fn moment(seconds: u64) -> i64 {
    i64::try_from(seconds).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
