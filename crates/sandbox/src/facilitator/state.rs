//! What the facilitator keeps: its accounts, fault rules and journal.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::facilitator::fault::{FacilitatorFault, FacilitatorFaultRule, FacilitatorOperation};
use crate::facilitator::settlement::OnChainSettler;
use crate::fault_rules::FaultRules;

/// Older calls are forgotten.
const JOURNAL_LINES: usize = 10_000;

/// One finished call, without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FacilitatorCall {
    /// Counts from one and is never reset.
    pub number: u64,
    pub operation: FacilitatorOperation,
    pub fault: Option<FacilitatorFault>,
    /// None if no response was sent.
    pub status: Option<u16>,
    /// The transaction that was sent for this call.
    pub transaction: Option<String>,
}

/// Fault rules and journal.
#[derive(Default)]
pub(crate) struct CallRecords {
    pub(crate) rules: FaultRules<FacilitatorFaultRule>,
    pub(crate) journal: Vec<FacilitatorCall>,
    calls: u64,
    pub(crate) lists: usize,
}

pub(crate) struct FacilitatorState {
    pub(crate) settler: OnChainSettler,
    pub(crate) calls: Mutex<CallRecords>,
}

impl FacilitatorState {
    pub(crate) fn calls(&self) -> MutexGuard<'_, CallRecords> {
        // Each change is complete in itself, so the state is valid after a panic elsewhere.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CallRecords {
    pub(crate) fn note(&mut self, line: FacilitatorCall) {
        self.calls += 1;
        self.journal.push(FacilitatorCall { number: self.calls, ..line });
        let spare = self.journal.len().saturating_sub(JOURNAL_LINES);
        self.journal.drain(..spare);
    }
}
