//! The metrics of the service, in the text format of Prometheus.
//!
//! `web` and `adapters` record theirs where they happen; the rest is here. No label holds an order,
//! a payer or any other value from a request.

use adapters::measurements::{
    GAS_SPENT, OUTSIDE_CALL_DURATION, OUTSIDE_CALLS, SETTLEMENT_DURATION, SETTLEMENTS,
    SETTLER_BALANCE, SETTLER_LOW_BALANCE, USDC_CHARGED,
};
use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge};
use metrics_exporter_prometheus::{
    Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder,
};
use order::lifecycle::Stored;
use order::model::ids::Timestamp;
use order::ports::StateCount;
use order::reconciler::alert::AlertKind;
use web::http::request_metrics::REQUEST_DURATION;

const ORDERS: &str = "pennyblack_orders";
const OLDEST_UNRESOLVED: &str = "pennyblack_oldest_unresolved_order_age_seconds";
const PROVIDER_CALLS_LEFT: &str = "pennyblack_provider_calls_left";
const RECONCILED_AT: &str = "pennyblack_reconciler_last_success_timestamp_seconds";
const ALERTS: &str = "pennyblack_alerts_total";
const BUILD_INFO: &str = "pennyblack_build_info";

/// Documents take microseconds and challenges less than a millisecond; a settlement waits for a
/// block, and a paid request at most `limits.paid_request_seconds`. The rest are OpenTelemetry's.
const SECONDS: &[f64] =
    &[0.0001, 0.0005, 0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 90.0];

/// Renders what the recorder has.
#[derive(Clone)]
pub(crate) struct MetricsHandle(PrometheusHandle);

impl MetricsHandle {
    /// The body of a scrape.
    pub(crate) fn render(&self) -> String {
        self.0.render()
    }

    /// Puts measurements into their buckets.
    pub(crate) fn run_upkeep(&self) {
        self.0.run_upkeep();
    }
}

/// Installs the recorder of the process. Called once, before anything is counted.
pub(crate) fn install() -> MetricsHandle {
    let recorder = recorder();
    let handle = MetricsHandle(recorder.handle());
    metrics::set_global_recorder(recorder).expect("it is installed once");
    register();
    handle
}

fn recorder() -> PrometheusRecorder {
    let mut builder = PrometheusBuilder::new();
    for name in [REQUEST_DURATION, OUTSIDE_CALL_DURATION, SETTLEMENT_DURATION] {
        let matcher = Matcher::Full(name.to_owned());
        builder = builder.set_buckets_for_metric(matcher, SECONDS).expect("there are buckets");
    }
    builder.build_recorder()
}

/// Describes all metrics, and sets those that are known at start. A counter that begins with its
/// first alert would not show that it rose.
fn register() {
    describe();
    gauge!(BUILD_INFO, "version" => env!("CARGO_PKG_VERSION")).set(1);
    for kind in ALERT_KINDS {
        counter!(ALERTS, "kind" => kind).increment(0);
    }
}

fn describe() {
    describe_histogram!(REQUEST_DURATION, "Duration of HTTP requests; status 499 is a disconnect.");
    describe_counter!(OUTSIDE_CALLS, "Calls to other systems, by outcome.");
    describe_histogram!(OUTSIDE_CALL_DURATION, "Duration of calls to other systems.");
    describe_counter!(
        SETTLEMENTS,
        "Settlements by outcome; `found` are those that a later look on the chain confirmed."
    );
    describe_histogram!(SETTLEMENT_DURATION, "Duration of settlements.");
    describe_counter!(USDC_CHARGED, "USDC of confirmed settlements, in units of 0.000001.");
    describe_counter!(GAS_SPENT, "Gas fees of the settler in final blocks, in wei.");
    describe_gauge!(SETTLER_BALANCE, "Balance of the settler's account when it was last read.");
    describe_gauge!(SETTLER_LOW_BALANCE, "Balance below which the settler's account is low.");
    describe_gauge!(ORDERS, "Orders for which a payment began, by state.");
    describe_gauge!(OLDEST_UNRESOLVED, "Age of the oldest order of each unresolved state.");
    describe_gauge!(PROVIDER_CALLS_LEFT, "Calls to the provider that its rate limit allows now.");
    describe_gauge!(RECONCILED_AT, "When the reconciler last completed a run.");
    describe_counter!(ALERTS, "Orders reported to the operator, by kind of alert.");
    describe_gauge!(BUILD_INFO, "Always 1; the label is the version of the program.");
}

/// Sets the number of orders by state. `counts` has the state, the number, and the age of the
/// oldest in seconds; a state that is missing has no orders.
pub(crate) fn update_orders(counts: &[StateCount], now: Timestamp) {
    for state in Stored::IN_PLAY {
        let counted = counts.iter().find(|counted| counted.state == *state);
        let count = counted.map_or(0, |counted| counted.count);
        let age = counted.and_then(|counted| now.since(counted.oldest)).unwrap_or_default();
        gauge!(ORDERS, "state" => *state).set(approximate(count));
        gauge!(OLDEST_UNRESOLVED, "state" => *state).set(approximate(age));
    }
}

pub(crate) fn set_provider_calls_left(calls: usize) {
    gauge!(PROVIDER_CALLS_LEFT).set(approximate(u64::try_from(calls).unwrap_or(u64::MAX)));
}

/// The reconciler has completed a run, in the time of Prometheus: the clock of the orders may run
/// faster in the sandbox.
pub(crate) fn set_reconciled(at: Timestamp) {
    gauge!(RECONCILED_AT).set(approximate(at.0));
}

pub(crate) fn count_alert(kind: &AlertKind) {
    counter!(ALERTS, "kind" => alert_kind(kind)).increment(1);
}

const ALERT_KINDS: [&str; 8] = [
    "payment",
    "refused_card",
    "card_in_doubt",
    "finality",
    "reversed",
    "reversed_elsewhere",
    "undelivered",
    "refund_due",
];

fn alert_kind(kind: &AlertKind) -> &'static str {
    match kind {
        AlertKind::Payment => "payment",
        AlertKind::RefusedCard => "refused_card",
        AlertKind::CardInDoubt => "card_in_doubt",
        AlertKind::Finality => "finality",
        AlertKind::Reversed => "reversed",
        AlertKind::ReversedElsewhere(_) => "reversed_elsewhere",
        AlertKind::Undelivered => "undelivered",
        AlertKind::RefundDue => "refund_due",
    }
}

#[expect(clippy::as_conversions, reason = "a sample of Prometheus is a floating-point number")]
fn approximate(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests;
