//! Maps whose keys are keyed digests: any of their bytes are as good as a hash of them.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// For names that we derive with a secret. Nobody can choose one, so nobody can choose
/// many that lie in one place either.
pub(super) type ByDigest<K, V> = HashMap<K, V, BuildHasherDefault<Digested>>;

#[derive(Default)]
pub(super) struct Digested(u64);

/// A map looks at the lowest and the highest bits, and whoever divides names among many
/// maps has done so by the lowest: others come to their place.
const TURN: u32 = 20;

impl Hasher for Digested {
    fn write(&mut self, bytes: &[u8]) {
        if let Some(first) = bytes.first_chunk() {
            self.write_u64(u64::from_be_bytes(*first));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 ^= number.rotate_left(TURN);
    }

    /// A length, and all are of the same.
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::hash::BuildHasher;

    use order::contract::samples::offer;

    use super::*;

    #[test]
    fn names_that_end_alike_come_to_different_places() {
        let hasher = ByDigest::<u64, ()>::default();
        let lowest = |number: u64| hasher.hasher().hash_one(number << 44) & 0xFFF;
        let places: BTreeSet<_> = (0..4_096).map(lowest).collect();
        assert_eq!(places.len(), 4_096);
    }

    #[test]
    fn a_name_is_found_by_its_first_bytes() {
        let mut map = ByDigest::default();
        let hash = |id| ByDigest::<u64, ()>::default().hasher().hash_one(id);
        for seed in 0..100 {
            map.insert(offer(seed).id, seed);
        }
        for seed in 0..100 {
            assert_eq!(map.get(&offer(seed).id), Some(&seed));
        }
        let hashes: BTreeSet<_> = (0..100).map(|seed| hash(offer(seed).id)).collect();
        assert_eq!(hashes.len(), 100);
    }
}
