//! Which calls came, in which order, and what became of them.

use std::collections::{BTreeMap, VecDeque};

/// How many calls are remembered one by one.
const ROOM: usize = 4_096;
/// How many methods are counted by name.
const METHODS: usize = 64;

/// One call. Parameters are not kept: they are the caller's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub sequence: u64,
    pub method: String,
    pub outcome: CallOutcome,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    Answered,
    /// The JSON-RPC error's code.
    Refused(i64),
    /// A fault struck before or after; its name.
    Struck(&'static str),
}

#[derive(Default)]
pub(super) struct Journal {
    calls: VecDeque<Call>,
    counts: BTreeMap<String, u64>,
    sequence: u64,
}

impl Journal {
    pub(super) fn write(&mut self, method: &str, outcome: CallOutcome) {
        self.sequence += 1;
        let known = self.counts.contains_key(method) || self.counts.len() < METHODS;
        let name = if known { method } else { "other" };
        *self.counts.entry(name.to_owned()).or_default() += 1;
        if self.calls.len() == ROOM {
            self.calls.pop_front();
        }
        let (sequence, method) = (self.sequence, method.chars().take(64).collect());
        self.calls.push_back(Call { sequence, method, outcome });
    }

    pub(super) fn calls(&self) -> Vec<Call> {
        self.calls.iter().cloned().collect()
    }

    pub(super) fn counts(&self) -> BTreeMap<String, u64> {
        self.counts.clone()
    }

    pub(super) fn clear(&mut self) {
        self.calls.clear();
        self.counts.clear();
    }
}
