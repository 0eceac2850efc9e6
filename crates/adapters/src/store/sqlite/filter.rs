//! A small memory of many keys: what it has not seen is certainly new.
//!
//! A Bloom filter, with another one of twice the size beside it whenever it is full.
//! The keys are keyed digests, so their own bytes are as good as any hash of them.

use order::ids::OperationKey;

/// With four probes one new key in forty is taken for a known one once a layer is
/// full, and then the database is asked in vain.
const BITS_A_KEY: usize = 8;
/// Eight thousand keys in eight kilobytes.
const WORDS_MIN: usize = 1_024;
const WORD_BITS: usize = 64;

#[derive(Default)]
pub(super) struct Filter {
    layers: Vec<Layer>,
}

struct Layer {
    /// A power of two, so that a mask finds the place.
    words: Vec<u64>,
    /// How many keys it still takes.
    room: usize,
}

impl Filter {
    /// With room for twice as many keys as are there already.
    pub(super) fn with_room_for(keys: usize) -> Self {
        Self { layers: vec![Layer::new(keys.saturating_mul(2 * BITS_A_KEY) / WORD_BITS)] }
    }

    pub(super) fn add(&mut self, key: &OperationKey) {
        if self.may_have(key) {
            return;
        }
        if self.layers.last().is_none_or(|layer| layer.room == 0) {
            let words = self.layers.last().map_or(0, |layer| layer.words.len());
            self.layers.push(Layer::new(2 * words));
        }
        if let Some(layer) = self.layers.last_mut() {
            layer.add(key);
        }
    }

    /// False only if the key has never been added.
    pub(super) fn may_have(&self, key: &OperationKey) -> bool {
        self.layers.iter().any(|layer| layer.may_have(key))
    }
}

impl Layer {
    fn new(words: usize) -> Self {
        let words = words.max(WORDS_MIN).next_power_of_two();
        Self { words: vec![0; words], room: words * WORD_BITS / BITS_A_KEY }
    }

    fn add(&mut self, key: &OperationKey) {
        for (word, bit) in places(key, self.words.len()) {
            self.words[word] |= bit;
        }
        self.room -= 1;
    }

    fn may_have(&self, key: &OperationKey) -> bool {
        places(key, self.words.len()).all(|(word, bit)| self.words[word] & bit != 0)
    }
}

/// One word and one bit in it for each quarter of the key.
fn places(key: &OperationKey, words: usize) -> impl Iterator<Item = (usize, u64)> {
    let (quarters, _) = key.0.as_chunks::<8>();
    quarters.iter().map(move |quarter| {
        let number = u64::from_le_bytes(*quarter);
        // The lowest six bits choose the bit, the next ones the word.
        let word = usize::try_from(number >> WORD_BITS.ilog2()).expect("usize has 64 bits");
        (word & (words - 1), 1 << (number % 64))
    })
}

#[cfg(test)]
mod tests {
    use order::contract::samples::operation;

    use super::*;

    #[test]
    fn what_was_added_is_never_taken_for_new_and_most_of_the_rest_is() {
        let mut filter = Filter::with_room_for(0);
        let room = WORDS_MIN * WORD_BITS / BITS_A_KEY;
        let count = u64::try_from(room).unwrap() + 100;
        let keys: Vec<_> = (0..2 * count).map(|seed| operation(seed).key).collect();
        let (added, others) = keys.split_at(keys.len() / 2);
        for key in added {
            filter.add(key);
        }
        assert_eq!(filter.layers.len(), 2, "one was full");
        assert!(added.iter().all(|key| filter.may_have(key)));
        let mistaken = others.iter().filter(|key| filter.may_have(key)).count();
        assert!(mistaken * 20 < others.len(), "{mistaken} of {}", others.len());
    }

    #[test]
    fn an_empty_filter_has_nothing_and_a_key_added_twice_takes_room_once() {
        let mut filter = Filter::default();
        let key = operation(1).key;
        assert!(!filter.may_have(&key));
        filter.add(&key);
        let room = filter.layers[0].room;
        filter.add(&key);
        assert!(filter.may_have(&key));
        assert_eq!(filter.layers[0].room, room);
    }

    #[test]
    fn a_larger_filter_begins_with_room_to_spare() {
        let filter = Filter::with_room_for(1_000_000);
        assert!(filter.layers[0].room >= 2_000_000);
    }
}
