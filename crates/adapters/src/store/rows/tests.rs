//! Whether every order survives its row, and no broken row survives its reader.

use order::lifecycle::Stored;
use order::ports::StoreError;
use order::testing::contract::samples::every_state;

use super::columns::COLUMNS;
use super::*;
use crate::keys::Keyring;
use crate::store::encryption::ColumnCipher;

fn cipher() -> ColumnCipher {
    ColumnCipher::new(&Keyring::from_text(&"07".repeat(32)).unwrap())
}

/// A row as a database gives it back.
struct Given(Vec<CellValue>);

impl Cells for Given {
    fn integer(&self, place: usize) -> Result<Option<i64>, StoreError> {
        match &self.0[place] {
            CellValue::Integer(cell) => Ok(*cell),
            CellValue::Text(_) | CellValue::Blob(_) => Err(StoreError::Corrupt),
        }
    }

    fn text(&self, place: usize) -> Result<Option<String>, StoreError> {
        match &self.0[place] {
            CellValue::Text(cell) => Ok(cell.clone()),
            CellValue::Integer(_) | CellValue::Blob(_) => Err(StoreError::Corrupt),
        }
    }

    fn blob(&self, place: usize) -> Result<Option<Vec<u8>>, StoreError> {
        match &self.0[place] {
            CellValue::Blob(cell) => Ok(cell.clone()),
            CellValue::Integer(_) | CellValue::Text(_) => Err(StoreError::Corrupt),
        }
    }
}

#[test]
fn every_state_reads_back_from_its_row_exactly() {
    let cipher = cipher();
    let mut words = std::collections::BTreeSet::new();
    for order in every_state(1) {
        let values = write(&order, &cipher).unwrap().into_values();
        assert_eq!(values.len(), COLUMNS.len());
        let row = Row::from_cells(&Given(values)).unwrap();
        assert_eq!(read(row, &cipher), Ok(order.clone()));
        words.insert(order.headline());
    }
    assert_eq!(words.len(), 11, "a state is missing among the samples: {words:?}");
}

#[test]
fn every_column_is_filled_by_some_state() {
    let cipher = cipher();
    let mut filled = vec![0; COLUMNS.len()];
    for order in every_state(1) {
        for (place, value) in write(&order, &cipher).unwrap().into_values().iter().enumerate() {
            filled[place] += usize::from(!is_empty(value));
        }
    }
    for (column, filled) in COLUMNS.iter().zip(filled) {
        assert!(filled > 0, "{column}");
    }
}

#[test]
fn an_offer_has_the_same_row_from_both_functions() {
    let cipher = cipher();
    for order in every_state(1) {
        if let Stored::Offered(offer) = &order {
            assert_eq!(write(&order, &cipher).unwrap(), offer_row(offer.clone()));
        }
    }
}

#[test]
fn no_word_of_a_card_and_no_secret_is_in_an_open_column() {
    let cipher = cipher();
    let marked: [&[u8]; 9] = [
        b"Greetings",
        b"Ada",
        b"Lovelace",
        b"James",
        b"London",
        b"SW1Y",
        b"sea.jpg",
        b"a signed credential",
        b"a signed transaction",
    ];
    for order in every_state(1) {
        for (column, value) in COLUMNS.iter().zip(write(&order, &cipher).unwrap().into_values()) {
            let bytes = match value {
                CellValue::Integer(_) => continue,
                CellValue::Text(cell) => cell.unwrap_or_default().into_bytes(),
                CellValue::Blob(cell) => cell.unwrap_or_default(),
            };
            for word in marked {
                assert!(!bytes.windows(word.len()).any(|part| part == word), "{column}");
            }
        }
    }
}

#[test]
fn a_broken_cell_makes_a_row_corrupt_or_changes_the_order_and_never_panics() {
    let cipher = cipher();
    let mut corrupt = 0;
    for order in every_state(1) {
        let values = write(&order, &cipher).unwrap().into_values();
        for place in 0..values.len() {
            for broken in broken(&values[place]) {
                let mut values = values.clone();
                let changed = values[place] != broken;
                values[place] = broken;
                match read(Row::from_cells(&Given(values)).unwrap(), &cipher) {
                    Ok(other) => assert!(!changed || other != order || is_unread(&order, place)),
                    Err(error) => {
                        assert_eq!(error, StoreError::Corrupt);
                        corrupt += 1;
                    }
                }
            }
        }
    }
    assert!(corrupt > 1_000, "{corrupt}");
}

/// A column that the order's state has no use for.
fn is_unread(order: &Stored, place: usize) -> bool {
    is_empty(&write(order, &cipher()).unwrap().into_values()[place])
}

fn broken(value: &CellValue) -> Vec<CellValue> {
    match value {
        CellValue::Integer(_) => {
            [None, Some(-1), Some(0), Some(i64::MAX)].map(CellValue::Integer).into()
        }
        CellValue::Text(_) => {
            [None, Some(String::new()), Some("∅".into())].map(CellValue::Text).into()
        }
        CellValue::Blob(_) => {
            [None, Some(vec![]), Some(vec![1; 31]), Some(vec![1; 100])].map(CellValue::Blob).into()
        }
    }
}

fn is_empty(value: &CellValue) -> bool {
    matches!(value, CellValue::Integer(None) | CellValue::Text(None) | CellValue::Blob(None))
}
