//! Reads and writes fault rules as JSON.

use serde_json::{Map, Value, json};

use crate::http::fields::JsonFields;
use crate::provider::fault::kind::ProviderFault;
use crate::provider::fault::operation::ProviderOperation;
use crate::provider::fault::rule::ProviderFaultRule;

impl ProviderFaultRule {
    /// Reads a rule; all invalid fields are reported together.
    pub(crate) fn read(value: &Value) -> Result<Self, Map<String, Value>> {
        let mut fields = JsonFields::of(value);
        let kind = fields.word(
            "kind",
            &words(ProviderFault::ALL, ProviderFault::written),
            ProviderFault::read,
        );
        let operation = fields.word(
            "operation",
            &words(ProviderOperation::ALL, ProviderOperation::written),
            ProviderOperation::read,
        );
        let usual = Self::new(kind.unwrap_or(ProviderFault::TimeoutBefore));
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
            "operation": self.operation.map(ProviderOperation::written),
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
