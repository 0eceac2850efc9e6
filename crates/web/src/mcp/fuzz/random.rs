//! A reproducible random generator.

/// The splitmix64 generator.
pub(super) struct Random(u64);

impl Random {
    /// Each message has its own stream, so that it can be reproduced alone.
    pub(super) fn new(seed: u64, message: u64) -> Self {
        let mut first = Self(seed);
        Self(first.bits() ^ message.wrapping_mul(0xd1b5_4a32_d192_ed03))
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.bits() >> 32).expect("32 bits fit") % limit.max(1)
    }

    pub(super) fn byte(&mut self) -> u8 {
        self.bits().to_be_bytes()[0]
    }

    pub(super) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}
