//! The journal of JSON-RPC calls and their outcomes.

use std::collections::{BTreeMap, VecDeque};

/// Number of calls kept.
const ROOM: usize = 4_096;
/// Number of method names that are counted.
const METHODS: usize = 64;

/// One call. Parameters are not kept: they may be confidential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournaledCall {
    pub sequence: u64,
    pub method: String,
    pub outcome: CallOutcome,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    Answered,
    /// The JSON-RPC error's code.
    Refused(i64),
    /// The name of the fault that applied.
    Faulted(&'static str),
}

#[derive(Default)]
pub(crate) struct CallJournal {
    calls: VecDeque<JournaledCall>,
    counts: BTreeMap<String, u64>,
    sequence: u64,
}

impl CallJournal {
    pub(crate) fn write(&mut self, method: &str, outcome: CallOutcome) {
        self.sequence += 1;
        let known = self.counts.contains_key(method) || self.counts.len() < METHODS;
        let name = if known { method } else { "other" };
        *self.counts.entry(name.to_owned()).or_default() += 1;
        if self.calls.len() == ROOM {
            self.calls.pop_front();
        }
        let (sequence, method) = (self.sequence, method.chars().take(64).collect());
        self.calls.push_back(JournaledCall { sequence, method, outcome });
    }

    pub(crate) fn calls(&self) -> Vec<JournaledCall> {
        self.calls.iter().cloned().collect()
    }

    pub(crate) fn counts(&self) -> BTreeMap<String, u64> {
        self.counts.clone()
    }

    pub(crate) fn clear(&mut self) {
        self.calls.clear();
        self.counts.clear();
    }
}
