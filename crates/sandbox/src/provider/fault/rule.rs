//! A provider fault rule: a fault and the calls that it applies to.

use crate::fault_rules::{CallSelection, FaultRule};
use crate::provider::fault::kind::ProviderFault;
use crate::provider::fault::operation::ProviderOperation;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderFaultRule {
    pub kind: ProviderFault,
    /// None: every operation that the fault applies to.
    pub operation: Option<ProviderOperation>,
    /// Calls that pass first.
    pub skip: u64,
    /// None: without limit.
    pub times: Option<u64>,
    pub percent: u8,
    /// The same seed selects the same calls.
    pub seed: u64,
    /// The caller's order reference, with `*` for any text. None: also calls without a
    /// reference.
    pub reference: Option<String>,
    /// For `status_before` and `status_after`.
    pub status: u16,
    /// Pause between two bytes of a slow response.
    pub milliseconds: u64,
    /// For `list_lag`, and the `Retry-After` of `rate_limited`.
    pub seconds: u64,
}

impl ProviderFaultRule {
    pub const fn new(kind: ProviderFault) -> Self {
        Self {
            kind,
            operation: None,
            skip: 0,
            times: None,
            percent: 100,
            seed: 0,
            reference: None,
            status: 500,
            milliseconds: 1_000,
            seconds: 30,
        }
    }

    pub fn on(self, operation: ProviderOperation) -> Self {
        Self { operation: Some(operation), ..self }
    }

    pub fn skip(self, calls: u64) -> Self {
        Self { skip: calls, ..self }
    }

    pub fn times(self, calls: u64) -> Self {
        Self { times: Some(calls), ..self }
    }

    pub fn once(self) -> Self {
        self.times(1)
    }

    pub fn percent(self, percent: u8, seed: u64) -> Self {
        Self { percent, seed, ..self }
    }

    pub fn matching(self, reference: &str) -> Self {
        Self { reference: Some(reference.to_owned()), ..self }
    }

    pub fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    pub fn milliseconds(self, milliseconds: u64) -> Self {
        Self { milliseconds, ..self }
    }

    pub fn seconds(self, seconds: u64) -> Self {
        Self { seconds, ..self }
    }

    pub(crate) fn concerns(&self, operation: ProviderOperation, reference: Option<&str>) -> bool {
        let named = match (&self.reference, reference) {
            (None, _) => true,
            (Some(pattern), Some(reference)) => matches(pattern, reference),
            (Some(_), None) => false,
        };
        let wanted = self.operation.is_none_or(|wanted| wanted == operation);
        wanted && named && self.kind.concerns(operation)
    }
}

impl FaultRule for ProviderFaultRule {
    fn selection(&self) -> CallSelection {
        let Self { skip, times, percent, seed, .. } = *self;
        CallSelection { skip, times, percent, seed }
    }
}

/// Whether the whole text matches the pattern.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(head) else { return false };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let tail = pieces.pop().unwrap_or_default();
    for piece in pieces {
        match text.find(piece) {
            Some(at) => text = &text[at + piece.len()..],
            None => return false,
        }
    }
    text.ends_with(tail)
}
