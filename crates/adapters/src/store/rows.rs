//! An order as a flat row: the one list of columns that both databases share.

mod columns;
mod enum_text;
pub(super) mod outbox;
mod read;
pub(super) mod sql;
mod write;

pub(super) use columns::{CellValue, Cells, Row, seconds_cell};
pub(super) use read::{
    is_decryptable, read, read_count, read_event, read_id, read_numbered, read_open, read_page,
};
pub(super) use write::{offer_row, write};

#[cfg(test)]
mod tests;
