//! Faults by rule: which call goes wrong, how, and how often.

use serde_json::{Map, Value, json};

use crate::provider::fault::kind::words;
use crate::provider::fault::rule::picks;
use crate::provider::fields::Fields;

words! {
    /// What a caller can ask.
    Operation {
        Supported => "supported",
        Verify => "verify",
        Settle => "settle",
    }
}

words! {
    /// Those up to `Invented` leave the chain untouched, the others strike when
    /// the work is done: the money has moved.
    Kind {
        CutBefore => "cut_before",
        HangBefore => "hang_before",
        /// 429 with `Retry-After`.
        RateLimited => "rate_limited",
        StatusBefore => "status_before",
        /// A well-formed no with the rule's reason.
        Refused => "refused",
        /// A success with a transaction that nobody has seen.
        Invented => "invented",
        CutAfter => "cut_after",
        HangAfter => "hang_after",
        StatusAfter => "status_after",
        Garbage => "garbage",
        Empty => "empty",
        /// The right answer, after a while.
        Slow => "slow",
        /// `settlement_pending`; the same request again gets the truth.
        Pending => "pending",
        /// The same with status 500, as Coinbase has it.
        PendingAs500 => "pending_as_500",
        /// A well-formed no with the rule's reason, after it was sent.
        FailsAfter => "fails_after",
        WrongAmount => "wrong_amount",
        NoAmount => "no_amount",
        WrongNetwork => "wrong_network",
        WrongPayer => "wrong_payer",
        NoTransaction => "no_transaction",
        /// One unit less than was asked is moved, and the answer says so.
        MovesLess => "moves_less",
    }
}

impl Kind {
    /// Whether this fault has any meaning for the operation.
    pub(super) const fn concerns(self, operation: Operation) -> bool {
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
            | (Self::Refused, Operation::Verify) => true,
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
            ) => matches!(operation, Operation::Settle),
        }
    }

    /// Whether the chain is asked at all.
    pub(super) const fn comes_before(self) -> bool {
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

/// A fault, and the calls that it strikes.
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
    /// For `status_before` and `status_after`.
    pub status: u16,
    /// For `slow`.
    pub milliseconds: u64,
    /// For `rate_limited`.
    pub seconds: u64,
    /// For `refused` and `fails_after`.
    pub reason: String,
}

impl Rule {
    pub fn new(kind: Kind) -> Self {
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

    pub fn on(self, operation: Operation) -> Self {
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

    /// Reads a rule; every faulty field is named at once.
    pub(super) fn read(value: &Value) -> Result<Self, Map<String, Value>> {
        let mut fields = Fields::of(value);
        let names = |all: Vec<&str>| all.join(", ");
        let kinds = names(Kind::ALL.iter().map(|kind| kind.written()).collect());
        let operations = names(Operation::ALL.iter().map(|one| one.written()).collect());
        let kind = fields.word("kind", &kinds, Kind::read);
        if kind.is_none() {
            fields.missing("kind");
        }
        let usual = Self::new(kind.unwrap_or(Kind::CutBefore));
        let rule = Self {
            kind: usual.kind,
            operation: fields.word("operation", &operations, Operation::read),
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

    pub(super) fn write(&self, broken: u64) -> Value {
        json!({
            "kind": self.kind.written(),
            "operation": self.operation.map(Operation::written),
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

/// The rules in force, in the sequence in which they were made.
#[derive(Default)]
pub(super) struct Rules(Vec<Active>);

struct Active {
    rule: Rule,
    /// Calls that the rule was about.
    met: u64,
    /// Calls that it broke.
    broken: u64,
}

impl Rules {
    pub(super) fn add(&mut self, rule: Rule) {
        self.0.push(Active { rule, met: 0, broken: 0 });
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn written(&self) -> Value {
        self.0.iter().map(|active| active.rule.write(active.broken)).collect()
    }

    /// The fault for this call. The first rule that applies decides; a rule
    /// behind it does not count the call.
    pub(super) fn meet(&mut self, operation: Operation) -> Option<Rule> {
        self.0.iter_mut().find_map(|active| active.meet(operation))
    }
}

impl Active {
    fn meet(&mut self, operation: Operation) -> Option<Rule> {
        let rule = &self.rule;
        if rule.operation.is_some_and(|wanted| wanted != operation)
            || !rule.kind.concerns(operation)
        {
            return None;
        }
        self.met += 1;
        let spent = rule.times.is_some_and(|times| self.broken >= times);
        if self.met <= rule.skip || spent || !picks(rule.seed, self.met, rule.percent) {
            return None;
        }
        self.broken += 1;
        Some(rule.clone())
    }
}
