//! What a settler leaves in the metrics, and what its lookups for evidence do not.

use metrics::set_default_local_recorder;
use metrics_exporter_prometheus::PrometheusBuilder;
use order::model::ids::Timestamp;
use order::model::payment::Finality;

use super::*;
use crate::measurements::{SETTLEMENTS, USDC_CHARGED};

/// Every payment has moved.
struct PaidTransfers;

fn moved() -> ConfirmedTransfer {
    let transaction = "0xabc".to_owned();
    ConfirmedTransfer { transaction, at: Timestamp(1), finality: Finality::Provisional }
}

#[async_trait]
impl TransferSettler for PaidTransfers {
    fn support(&self, _: Network) -> TransferSupport {
        TransferSupport::Offered
    }

    async fn verify(&self, _: &TransferAuthorization) -> Result<AuthorizationUse, Rejection> {
        Ok(AuthorizationUse::Used)
    }

    async fn prepare(
        &self,
        _: &TransferAuthorization,
        _: Option<&Preparation>,
    ) -> Result<PreparedTransfer, Rejection> {
        Err(Rejection::Unavailable)
    }

    async fn settle(&self, _: TransferPayment<'_>) -> Result<ConfirmedTransfer, Unsettled> {
        Ok(moved())
    }

    async fn trace(
        &self,
        _: TransferPayment<'_>,
        _: Option<&str>,
    ) -> Result<TransferStatus, Failure> {
        Ok(TransferStatus::Moved(moved()))
    }
}

#[tokio::test]
async fn a_charge_is_counted_by_the_measured_settler_and_not_by_a_lookup_for_evidence() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let _recording = set_default_local_recorder(&recorder);
    let account = EvmAddress::from_bytes([7; 20]);
    let authorization = TransferAuthorization {
        network: Network::Base,
        token: account,
        from: account,
        to: account,
        value: Usdc::from_atomic(2_117_500),
        valid_after: 0,
        valid_before: 1,
        nonce: [0; 32],
        signature: [0; 65],
    };
    let preparation = Preparation::default();
    let due = TransferPayment { authorization: &authorization, preparation: &preparation };
    let settler: Arc<dyn TransferSettler> = Arc::new(PaidTransfers);
    let measured = MeasuredSettler(settler.clone());
    assert_eq!(settler.trace(due, None).await, Ok(TransferStatus::Moved(moved())));
    assert_eq!(recorder.handle().render(), "");
    assert_eq!(measured.trace(due, None).await, Ok(TransferStatus::Moved(moved())));
    assert_eq!(measured.settle(due).await, Ok(moved()));
    let text = recorder.handle().render();
    let labels = "rail=\"mpp\",network=\"eip155:8453\"";
    for line in [
        format!("{SETTLEMENTS}{{{labels},outcome=\"found\"}} 1\n"),
        format!("{SETTLEMENTS}{{{labels},outcome=\"settled\"}} 1\n"),
        format!("{USDC_CHARGED}{{{labels}}} 4235000\n"),
    ] {
        assert!(text.contains(&line), "{line}: {text}");
    }
}
