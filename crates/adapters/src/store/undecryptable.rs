//! Orders that are encrypted with a key which this process does not have; other processes handle
//! them.
//!
//! While a key is rotated, one process may write orders that another cannot decrypt yet.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use order::model::ids::Timestamp;

/// How long such an order is not claimed again. After that it is logged again.
const SECONDS: u64 = 60 * 60;

#[derive(Default)]
pub(super) struct Undecryptable {
    /// When each was found, by its id.
    found: Mutex<HashMap<String, Timestamp>>,
}

impl Undecryptable {
    fn found(&self) -> MutexGuard<'_, HashMap<String, Timestamp>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The ids that must not be claimed now. They are dropped if the clock is set back.
    pub(super) fn ids_at(&self, now: Timestamp) -> Vec<String> {
        self.found().retain(|_, found| now.since(*found).is_some_and(|age| age < SECONDS));
        self.ids()
    }

    pub(super) fn ids(&self) -> Vec<String> {
        self.found().keys().cloned().collect()
    }

    pub(super) fn add(&self, id: &str, now: Timestamp) {
        if self.found().insert(id.to_owned(), now).is_none() {
            tracing::warn!(
                order.id = %id,
                "order is encrypted with a key that is not in the key file; left to other processes"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn an_order_is_left_alone_for_an_hour_and_no_longer() {
        let (undecryptable, now) = (Undecryptable::default(), Timestamp(10_000));
        undecryptable.add("a", now);
        undecryptable.add("b", now.plus(10));
        assert_eq!(undecryptable.ids_at(now.plus(SECONDS)), ["b"]);
        assert_eq!(undecryptable.ids_at(now), [""; 0], "the clock was put back");
    }

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_order_is_logged_once() {
        let (lines, undecryptable) = (Lines::default(), Undecryptable::default());
        let writer = lines.clone();
        let log = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
        tracing::subscriber::with_default(log, || {
            for id in ["a", "b", "a"] {
                undecryptable.add(id, Timestamp(10_000));
            }
        });
        let lines = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        assert_eq!(lines.matches("order is encrypted with a key").count(), 2, "{lines}");
    }
}
