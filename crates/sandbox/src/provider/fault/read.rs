//! Rules as JSON, both ways.

use serde_json::{Map, Value, json};

use super::super::fields::Fields;
use super::kind::Kind;
use super::operation::Operation;
use super::rule::Rule;

impl Rule {
    /// Reads a rule; every faulty field is named at once.
    pub(crate) fn read(value: &Value) -> Result<Self, Map<String, Value>> {
        let mut fields = Fields::of(value);
        let kind = fields.word("kind", &words(Kind::ALL, Kind::written), Kind::read);
        let operation =
            fields.word("operation", &words(Operation::ALL, Operation::written), Operation::read);
        let usual = Self::new(kind.unwrap_or(Kind::TimeoutBefore));
        if kind.is_none() {
            fields.missing("kind");
        }
        let rule = Self {
            kind: usual.kind,
            operation,
            skip: fields.number("skip", 0..=u64::MAX).unwrap_or(usual.skip),
            times: fields.number("times", 0..=u64::MAX),
            percent: fields.small("percent", 0..=100).unwrap_or(usual.percent),
            seed: fields.number("seed", 0..=u64::MAX).unwrap_or(usual.seed),
            reference: fields.text("reference"),
            status: fields.small("status", 200..=599).unwrap_or(usual.status),
            milliseconds: fields
                .number("milliseconds", 0..=3_600_000)
                .unwrap_or(usual.milliseconds),
            seconds: fields.number("seconds", 0..=u64::MAX).unwrap_or(usual.seconds),
        };
        fields.done().map(|()| rule)
    }

    pub(crate) fn write(&self, broken: u64) -> Value {
        json!({
            "kind": self.kind.written(),
            "operation": self.operation.map(Operation::written),
            "skip": self.skip,
            "times": self.times,
            "percent": self.percent,
            "seed": self.seed,
            "reference": self.reference,
            "status": self.status,
            "milliseconds": self.milliseconds,
            "seconds": self.seconds,
            "broken_calls": broken,
        })
    }
}

fn words<T: Copy>(all: &[T], written: impl Fn(T) -> &'static str) -> String {
    all.iter().map(|one| written(*one)).collect::<Vec<_>>().join(", ")
}
