//! Counts calls and decides which of them a fault rule breaks.

use sha2::{Digest, Sha256};

/// Which of the calls that a rule concerns it breaks.
#[derive(Clone, Copy)]
pub(crate) struct CallSelection {
    /// Calls that pass first.
    pub(crate) skip: u64,
    /// Calls to break; without a number, all that follow.
    pub(crate) times: Option<u64>,
    pub(crate) percent: u8,
    /// The same seed selects the same calls.
    pub(crate) seed: u64,
}

pub(crate) trait FaultRule: Clone {
    fn selection(&self) -> CallSelection;
}

/// The active rules, in the order in which they were added.
pub(crate) struct FaultRules<R>(Vec<ActiveRule<R>>);

struct ActiveRule<R> {
    rule: R,
    /// Calls that the rule concerned.
    met: u64,
    /// Calls that it broke.
    broken: u64,
}

impl<R> Default for FaultRules<R> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<R: FaultRule> FaultRules<R> {
    pub(crate) fn add(&mut self, rule: R) {
        self.0.push(ActiveRule { rule, met: 0, broken: 0 });
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Every rule, with the number of calls that it broke.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&R, u64)> {
        self.0.iter().map(|active| (&active.rule, active.broken))
    }

    /// The rule that breaks this call. The first rule that applies decides; later
    /// rules do not count the call.
    pub(crate) fn next(&mut self, concerns: impl Fn(&R) -> bool) -> Option<R> {
        self.0.iter_mut().find_map(|active| active.next(&concerns))
    }
}

impl<R: FaultRule> ActiveRule<R> {
    fn next(&mut self, concerns: impl Fn(&R) -> bool) -> Option<R> {
        if !concerns(&self.rule) {
            return None;
        }
        self.met += 1;
        let CallSelection { skip, times, percent, seed } = self.rule.selection();
        let spent = times.is_some_and(|times| self.broken >= times);
        if self.met <= skip || spent || !is_selected(seed, self.met, percent) {
            return None;
        }
        self.broken += 1;
        Some(self.rule.clone())
    }
}

/// Whether the seed selects this call, for `percent` of all calls.
fn is_selected(seed: u64, number: u64, percent: u8) -> bool {
    let hash: [u8; 32] = Sha256::new()
        .chain_update(seed.to_be_bytes())
        .chain_update(number.to_be_bytes())
        .finalize()
        .into();
    let (first, _) = hash.split_first_chunk().expect("8 of 32 bytes");
    u64::from_be_bytes(*first) % 100 < u64::from(percent)
}
