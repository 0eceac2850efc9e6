//! The schema of a database, read without changing it.

use super::OpenError;
use super::migration::{self, Migration};

/// How far the schema of a database is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredSchema {
    /// There is no database, or it has no tables. The first start creates them.
    Missing,
    /// The version that this program writes.
    Current(i64),
    /// An earlier version, which the next start migrates.
    Earlier { found: i64, known: i64 },
}

/// Whether a process has an SQLite file open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileUse {
    Free,
    InUse,
}

/// Zero is a database without tables.
pub(super) fn classify(steps: &'static [Migration], found: i64) -> Result<StoredSchema, OpenError> {
    if found == 0 {
        return Ok(StoredSchema::Missing);
    }
    Ok(match migration::after(steps, found)?.last() {
        Some(newest) => StoredSchema::Earlier { found, known: newest.version },
        None => StoredSchema::Current(found),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_missing_earlier_current_or_rejected() {
        const STEPS: &[Migration] =
            &[Migration { version: 102, sql: "" }, Migration { version: 103, sql: "" }];
        let class = |found| classify(STEPS, found).ok();
        assert_eq!(class(0), Some(StoredSchema::Missing));
        assert_eq!(class(102), Some(StoredSchema::Earlier { found: 102, known: 103 }));
        assert_eq!(class(103), Some(StoredSchema::Current(103)));
        assert_eq!((class(7), class(104)), (None, None));
    }
}
