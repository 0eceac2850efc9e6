//! Deterministic irregularities for drawings.

/// A pseudorandom number generator (SplitMix64).
pub(crate) struct Jitter(u64);

impl Jitter {
    pub(crate) fn of(text: &str) -> Self {
        // FNV-1a; not security relevant.
        Self(text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        }))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let stirred = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let stirred = (stirred ^ (stirred >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        stirred ^ (stirred >> 31)
    }

    /// From `low` to `high`, both possible.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = high.abs_diff(low) + 1;
        low.saturating_add_unsigned(self.next() % span)
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let length = u64::try_from(from.len()).ok().filter(|length| *length > 0)?;
        usize::try_from(self.next() % length).ok().and_then(|at| from.get(at))
    }
}
