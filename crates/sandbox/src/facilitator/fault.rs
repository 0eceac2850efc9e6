//! Fault rules: which calls fail, how, and how often.

use serde_json::{Map, Value, json};

use crate::fault_rules::{CallSelection, FaultRule};
use crate::http::fields::JsonFields;
use crate::provider::fault::kind::words;

words! {
    /// The operations of a facilitator.
    FacilitatorOperation {
        Supported => "supported",
        Verify => "verify",
        Settle => "settle",
    }
}

words! {
    /// Faults up to `Invented` leave the chain unchanged; the others apply after the money
    /// has moved.
    FacilitatorFault {
        CutBefore => "cut_before",
        HangBefore => "hang_before",
        /// 429 with `Retry-After`.
        RateLimited => "rate_limited",
        StatusBefore => "status_before",
        /// A well-formed refusal with the rule's reason.
        Refused => "refused",
        /// A success with a transaction that does not exist.
        Invented => "invented",
        CutAfter => "cut_after",
        HangAfter => "hang_after",
        StatusAfter => "status_after",
        Garbage => "garbage",
        Empty => "empty",
        /// The right answer, after a while.
        Slow => "slow",
        /// `settlement_pending`; a repeated request gets the real outcome.
        Pending => "pending",
        /// The same with status 500, as at Coinbase.
        PendingAs500 => "pending_as_500",
        /// A well-formed refusal with the rule's reason, after the transaction was sent.
        FailsAfter => "fails_after",
        WrongAmount => "wrong_amount",
        NoAmount => "no_amount",
        WrongNetwork => "wrong_network",
        WrongPayer => "wrong_payer",
        NoTransaction => "no_transaction",
        /// Moves one unit less than requested, and answers so.
        MovesLess => "moves_less",
    }
}

impl FacilitatorFault {
    /// Whether this fault applies to the operation.
    pub(crate) const fn concerns(self, operation: FacilitatorOperation) -> bool {
        match (self, operation) {
            (
                Self::CutBefore
                | Self::HangBefore
                | Self::RateLimited
                | Self::StatusBefore
                | Self::CutAfter
                | Self::HangAfter
                | Self::StatusAfter
                | Self::Garbage
                | Self::Empty
                | Self::Slow,
                _,
            )
            | (Self::Refused, FacilitatorOperation::Verify) => true,
            (
                Self::Refused
                | Self::Invented
                | Self::Pending
                | Self::PendingAs500
                | Self::FailsAfter
                | Self::WrongAmount
                | Self::NoAmount
                | Self::WrongNetwork
                | Self::WrongPayer
                | Self::NoTransaction
                | Self::MovesLess,
                operation,
            ) => matches!(operation, FacilitatorOperation::Settle),
        }
    }

    /// Whether the fault applies before the chain is called.
    pub(crate) const fn comes_before(self) -> bool {
        matches!(
            self,
            Self::CutBefore
                | Self::HangBefore
                | Self::RateLimited
                | Self::StatusBefore
                | Self::Refused
                | Self::Invented
        )
    }
}

/// A fault and the calls that it applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FacilitatorFaultRule {
    pub kind: FacilitatorFault,
    /// None: every operation that the fault applies to.
    pub operation: Option<FacilitatorOperation>,
    /// Calls that pass first.
    pub skip: u64,
    /// None: without limit.
    pub times: Option<u64>,
    pub percent: u8,
    /// The same seed selects the same calls.
    pub seed: u64,
    /// For `status_before` and `status_after`.
    pub status: u16,
    /// For `slow`.
    pub milliseconds: u64,
    /// For `rate_limited`.
    pub seconds: u64,
    /// For `refused` and `fails_after`.
    pub reason: String,
}

impl FacilitatorFaultRule {
    pub fn new(kind: FacilitatorFault) -> Self {
        Self {
            kind,
            operation: None,
            skip: 0,
            times: None,
            percent: 100,
            seed: 0,
            status: 500,
            milliseconds: 1_000,
            seconds: 30,
            reason: "permit2_simulation_failed".to_owned(),
        }
    }

    pub fn on(self, operation: FacilitatorOperation) -> Self {
        Self { operation: Some(operation), ..self }
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

    pub fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    pub fn milliseconds(self, milliseconds: u64) -> Self {
        Self { milliseconds, ..self }
    }

    pub fn seconds(self, seconds: u64) -> Self {
        Self { seconds, ..self }
    }

    pub fn reason(self, reason: &str) -> Self {
        Self { reason: reason.to_owned(), ..self }
    }

    pub(crate) fn concerns(&self, operation: FacilitatorOperation) -> bool {
        let wanted = self.operation.is_none_or(|wanted| wanted == operation);
        wanted && self.kind.concerns(operation)
    }

    /// Reads a rule; all invalid fields are reported together.
    pub(crate) fn read(value: &Value) -> Result<Self, Map<String, Value>> {
        let mut fields = JsonFields::of(value);
        let names = |all: Vec<&str>| all.join(", ");
        let kinds = names(FacilitatorFault::ALL.iter().map(|kind| kind.written()).collect());
        let operations = names(FacilitatorOperation::ALL.iter().map(|one| one.written()).collect());
        let kind = fields.word("kind", &kinds, FacilitatorFault::read);
        if kind.is_none() {
            fields.missing("kind");
        }
        let usual = Self::new(kind.unwrap_or(FacilitatorFault::CutBefore));
        let rule = Self {
            kind: usual.kind,
            operation: fields.word("operation", &operations, FacilitatorOperation::read),
            skip: fields.number("skip", 0..=u64::MAX).unwrap_or(usual.skip),
            times: fields.number("times", 0..=u64::MAX),
            percent: fields.small("percent", 0..=100).unwrap_or(usual.percent),
            seed: fields.number("seed", 0..=u64::MAX).unwrap_or(usual.seed),
            status: fields.small("status", 200..=599).unwrap_or(usual.status),
            milliseconds: fields
                .number("milliseconds", 0..=3_600_000)
                .unwrap_or(usual.milliseconds),
            seconds: fields.number("seconds", 0..=u64::MAX).unwrap_or(usual.seconds),
            reason: fields.text("reason").unwrap_or(usual.reason),
        };
        fields.done().map(|()| rule)
    }

    pub(crate) fn write(&self, broken: u64) -> Value {
        json!({
            "kind": self.kind.written(),
            "operation": self.operation.map(FacilitatorOperation::written),
            "skip": self.skip,
            "times": self.times,
            "percent": self.percent,
            "seed": self.seed,
            "status": self.status,
            "milliseconds": self.milliseconds,
            "seconds": self.seconds,
            "reason": self.reason,
            "broken_calls": broken,
        })
    }
}

impl FaultRule for FacilitatorFaultRule {
    fn selection(&self) -> CallSelection {
        let Self { skip, times, percent, seed, .. } = *self;
        CallSelection { skip, times, percent, seed }
    }
}
