//! The columns of the table `orders`, and the types of their cells.

use order::ports::StoreError;

/// A cell value for a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::store) enum CellValue {
    Integer(Option<i64>),
    Text(Option<String>),
    Blob(Option<Vec<u8>>),
}

/// A result row of either database.
pub(in crate::store) trait Cells {
    fn integer(&self, place: usize) -> Result<Option<i64>, StoreError>;
    fn text(&self, place: usize) -> Result<Option<String>, StoreError>;
    fn blob(&self, place: usize) -> Result<Option<Vec<u8>>, StoreError>;
}

/// A Rust type of a cell.
trait Cell: Sized {
    fn value(cell: Option<Self>) -> CellValue;
    fn take(cells: &impl Cells, place: usize) -> Result<Option<Self>, StoreError>;
}

macro_rules! cells {
    ($($kind:ident $type:ty, $take:ident;)+) => {
        $(impl Cell for $type {
            fn value(cell: Option<Self>) -> CellValue {
                CellValue::$kind(cell)
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
        pub(in crate::store) struct Row {
            $(pub(in crate::store) $column: Option<$type>,)+
        }

        pub(in crate::store) const COLUMNS: &[&str] = &[$(stringify!($column),)+];

        impl Row {
            /// In the order of the columns.
            pub(in crate::store) fn into_values(self) -> Vec<CellValue> {
                vec![$(Cell::value(self.$column),)+]
            }

            pub(in crate::store) fn from_cells(cells: &impl Cells) -> Result<Self, StoreError> {
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
    attempted_at: i64,
    doubt: String,
    mailpiece: String,
    mailed_at: i64,
    stage: String,
    stage_at: i64,
    refund_transaction: String,
    refund_at: i64,
    worker: Vec<u8>,
    provider_account: String,
    acknowledged_at: i64,
    country: String,
    refund_atomic: i64,
}

/// A time for comparisons. Databases have signed integers; later times saturate.
pub(in crate::store) fn seconds_cell(seconds: u64) -> i64 {
    i64::try_from(seconds).unwrap_or(i64::MAX)
}
