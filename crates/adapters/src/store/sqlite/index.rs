//! The sheet of each name, by the name's first bytes.

use crate::store::digested::ByDigest;

/// A map that grows takes a while, and whoever asks waits for it. Many small ones grow
/// one after the other, a millisecond each.
const PARTS: usize = 64;

pub(super) struct Index {
    parts: Vec<ByDigest<u64, i64>>,
    pub(super) length: usize,
}

impl Default for Index {
    fn default() -> Self {
        Self { parts: vec![ByDigest::default(); PARTS], length: 0 }
    }
}

impl Index {
    pub(super) fn sheet(&self, start: u64) -> Option<i64> {
        self.parts.get(part(start))?.get(&start).copied()
    }

    pub(super) fn insert(&mut self, start: u64, sheet: i64) {
        if let Some(part) = self.parts.get_mut(part(start))
            && part.insert(start, sheet).is_none()
        {
            self.length += 1;
        }
    }

    /// Unless it has been written on another sheet since.
    pub(super) fn remove(&mut self, start: u64, sheet: i64) {
        if let Some(part) = self.parts.get_mut(part(start))
            && part.get(&start) == Some(&sheet)
        {
            part.remove(&start);
            self.length -= 1;
        }
    }
}

/// Names are keyed digests, so any of their bits divide them evenly.
fn part(start: u64) -> usize {
    usize::try_from(start).unwrap_or_default() % PARTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_counted_once_and_leaves_only_from_its_own_sheet() {
        let mut index = Index::default();
        for (start, sheet) in [(1, 10), (65, 11), (u64::MAX, 12), (1, 13)] {
            index.insert(start, sheet);
        }
        let found = [0, 1, 65, u64::MAX].map(|start| index.sheet(start));
        assert_eq!((found, index.length), ([None, Some(13), Some(11), Some(12)], 3));
        index.remove(1, 10);
        index.remove(65, 11);
        assert_eq!((index.sheet(1), index.sheet(65), index.length), (Some(13), None, 2));
    }
}
