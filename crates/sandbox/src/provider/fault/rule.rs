//! One rule: a kind of fault, and the calls that it strikes.

use sha2::{Digest, Sha256};

use super::kind::Kind;
use super::operation::Operation;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub kind: Kind,
    /// None strikes every operation for which the kind has a meaning.
    pub operation: Option<Operation>,
    /// So many calls are left alone first.
    pub skip: u64,
    /// None strikes for ever.
    pub times: Option<u64>,
    pub percent: u8,
    /// Which calls chance picks, the same ones every time.
    pub seed: u64,
    /// The caller's order, with `*` for any text. None strikes nameless calls too.
    pub reference: Option<String>,
    /// For `status_before` and `status_after`.
    pub status: u16,
    /// Between two bytes of a slow answer.
    pub milliseconds: u64,
    /// For `list_lag`, and what `rate_limited` asks the caller to wait.
    pub seconds: u64,
}

impl Rule {
    pub const fn new(kind: Kind) -> Self {
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

    pub fn on(self, operation: Operation) -> Self {
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

    pub(crate) fn concerns(&self, operation: Operation, reference: Option<&str>) -> bool {
        let named = match (&self.reference, reference) {
            (None, _) => true,
            (Some(pattern), Some(reference)) => matches(pattern, reference),
            (Some(_), None) => false,
        };
        let wanted = self.operation.is_none_or(|wanted| wanted == operation);
        wanted && named && self.kind.concerns(operation)
    }

    /// Whether chance picks the call with this number.
    pub(crate) fn strikes(&self, number: u64) -> bool {
        picks(self.seed, number, self.percent)
    }
}

/// Whether chance picks this number, so many in a hundred; the same ones every
/// time for the same seed.
pub(crate) fn picks(seed: u64, number: u64, percent: u8) -> bool {
    let hash: [u8; 32] = Sha256::new()
        .chain_update(seed.to_be_bytes())
        .chain_update(number.to_be_bytes())
        .finalize()
        .into();
    let (first, _) = hash.split_first_chunk().expect("8 of 32 bytes");
    u64::from_be_bytes(*first) % 100 < u64::from(percent)
}

/// Whether the text has the pattern's pieces in sequence, from end to end.
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
