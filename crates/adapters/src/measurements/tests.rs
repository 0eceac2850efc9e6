//! What payments and balances leave in the metrics.

use metrics::set_default_local_recorder;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusRecorder};
use order::model::ids::Timestamp;
use order::model::payment::Finality;

use super::*;

const PAYMENT: MeasuredPayment =
    MeasuredPayment { rail: "x402", network: Network::Base, charge: Usdc::from_atomic(2_117_500) };

fn recorder() -> PrometheusRecorder {
    PrometheusBuilder::new().build_recorder()
}

fn transfer() -> ConfirmedTransfer {
    ConfirmedTransfer {
        transaction: "0xabc".to_owned(),
        at: Timestamp(1),
        finality: Finality::Provisional,
    }
}

fn settlements(outcome: &str, count: u64) -> String {
    format!(
        "{SETTLEMENTS}{{rail=\"x402\",network=\"eip155:8453\",outcome=\"{outcome}\"}} {count}\n"
    )
}

fn charged(units: u64) -> String {
    format!("{USDC_CHARGED}{{rail=\"x402\",network=\"eip155:8453\"}} {units}\n")
}

#[tokio::test]
async fn every_settlement_is_counted_and_only_a_settled_one_is_charged() {
    let recorder = recorder();
    let _recording = set_default_local_recorder(&recorder);
    let why = || "a reason".to_owned();
    for outcome in [
        Ok(transfer()),
        Ok(transfer()),
        Err(Unsettled::Refused(why())),
        Err(Unsettled::Withdrawn(why())),
        Err(Unsettled::Lost(why())),
    ] {
        let returned = measure_settlement(PAYMENT, async { outcome.clone() }).await;
        assert_eq!(returned, outcome, "the outcome is passed on");
    }
    let text = recorder.handle().render();
    for line in [
        settlements("settled", 2),
        settlements("refused", 1),
        settlements("withdrawn", 1),
        settlements("lost", 1),
        charged(4_235_000),
    ] {
        assert!(text.contains(&line), "{line}: {text}");
    }
    let durations = format!("{SETTLEMENT_DURATION}_count{{");
    let measured = text.lines().filter(|line| line.starts_with(&durations)).count();
    assert_eq!(measured, 4, "{text}");
    assert!(!text.contains("0xabc") && !text.contains("a reason"), "{text}");
}

#[test]
fn a_payment_that_a_trace_finds_is_charged_and_one_that_it_confirms_is_not_again() {
    let recorder = recorder();
    let _recording = set_default_local_recorder(&recorder);
    let moved = Ok(TransferStatus::Moved(transfer()));
    measure_trace(PAYMENT, Some("0xabc"), &moved);
    measure_trace(PAYMENT, None, &Ok(TransferStatus::Open));
    measure_trace(PAYMENT, None, &Err(Failure::Lost("no answer".to_owned())));
    assert_eq!(recorder.handle().render(), "");
    measure_trace(PAYMENT, None, &moved);
    let text = recorder.handle().render();
    assert!(
        text.contains(&settlements("found", 1)) && text.contains(&charged(2_117_500)),
        "{text}"
    );
}

#[test]
fn a_balance_is_absent_until_it_is_read() {
    let recorder = recorder();
    let _recording = set_default_local_recorder(&recorder);
    count_gas(Network::Base, 21_000_000_000_000);
    assert!(!recorder.handle().render().contains(SETTLER_BALANCE));
    set_settler_balance(Network::Polygon, 4_000_000_000_000_000_000, 2_000_000_000_000_000_000);
    let text = recorder.handle().render();
    for line in [
        format!("{GAS_SPENT}{{network=\"eip155:8453\"}} 21000000000000\n"),
        format!("{SETTLER_BALANCE}{{network=\"eip155:137\"}} 4000000000000000000\n"),
        format!("{SETTLER_LOW_BALANCE}{{network=\"eip155:137\"}} 2000000000000000000\n"),
    ] {
        assert!(text.contains(&line), "{line}: {text}");
    }
    assert!(!text.contains(&format!("{SETTLER_BALANCE}{{network=\"eip155:8453\"}}")), "{text}");
}
