//! Logs and counts how settlements and traces end, with the transaction where there is one.

use alloy_primitives::B256;
use order::model::chain::Network;
use order::ports::Failure;
use order::tender::Unsettled;
use pay::transfer::{ConfirmedTransfer, TransferStatus};
use tracing::field::{DisplayValue, display};

use super::proof::ProofError;
use crate::measurements::{MeasuredPayment, measure_settlement, measure_trace};

/// Awaits a settlement, counts it and logs its transaction.
pub(crate) async fn report_settlement(
    network: Network,
    payment: MeasuredPayment,
    settlement: impl Future<Output = Result<ConfirmedTransfer, Unsettled>>,
) -> Result<ConfirmedTransfer, Unsettled> {
    let settled = measure_settlement(payment, settlement).await;
    if let Ok(ConfirmedTransfer { transaction, .. }) = &settled {
        let transaction = logged_hash(transaction);
        tracing::info!(%network, transaction, "A payment is settled");
    }
    settled
}

/// Counts and logs what a trace found. If the transaction was told, the trace only checks that
/// it still stands.
pub(crate) fn report_trace(
    network: Network,
    payment: MeasuredPayment,
    told: Option<&str>,
    traced: Result<TransferStatus, ProofError>,
) -> Result<TransferStatus, Failure> {
    match (&traced, told) {
        (Ok(TransferStatus::Moved(ConfirmedTransfer { transaction, .. })), None) => {
            let transaction = logged_hash(transaction);
            tracing::info!(%network, transaction, "A payment was found on the chain");
        }
        (Err(doubt), told) => {
            let transaction = told.and_then(logged_hash);
            tracing::warn!(%network, transaction, kind = %doubt, "The state of a payment is unknown");
        }
        (Ok(TransferStatus::Moved(_) | TransferStatus::Void | TransferStatus::Open), _) => {}
    }
    let traced = traced.map_err(Failure::from);
    measure_trace(payment, told, &traced);
    traced
}

/// Only a hash is logged, whatever a facilitator calls a transaction.
pub(crate) fn logged_hash(transaction: &str) -> Option<DisplayValue<B256>> {
    transaction.parse().ok().map(display)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_hash_is_not_logged() {
        assert!(logged_hash(&"0xab".repeat(33)).is_none());
        assert!(logged_hash("Ada Lovelace").is_none());
        let hash = format!("0x{}", "ab".repeat(32));
        assert_eq!(logged_hash(&hash).map(|hash| hash.to_string()), Some(hash));
    }
}
