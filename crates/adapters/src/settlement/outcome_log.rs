//! Logs how settlements and traces end, with the transaction where there is one.

use alloy_primitives::B256;
use order::model::chain::Network;
use order::ports::Failure;
use order::tender::Unsettled;
use pay::transfer::{ConfirmedTransfer, TransferStatus};
use tracing::field::{DisplayValue, display};

use super::proof::ProofError;

/// Logs the transaction of a settlement.
pub(crate) fn log_settled(network: Network, settled: &Result<ConfirmedTransfer, Unsettled>) {
    if let Ok(ConfirmedTransfer { transaction, .. }) = settled {
        let transaction = logged_hash(transaction);
        tracing::info!(%network, transaction, "A payment is settled");
    }
}

/// Logs the transaction that a trace found. If it was told, the trace only checks that it still
/// stands.
pub(crate) fn log_found(
    network: Network,
    reported: Option<&str>,
    traced: &Result<TransferStatus, Failure>,
) {
    match (traced, reported) {
        (Ok(TransferStatus::Moved(ConfirmedTransfer { transaction, .. })), None) => {
            let transaction = logged_hash(transaction);
            tracing::info!(%network, transaction, "A payment was found on the chain");
        }
        (Ok(TransferStatus::Moved(_) | TransferStatus::Void | TransferStatus::Open), _)
        | (Err(_), _) => {}
    }
}

/// Logs why a trace proved nothing.
pub(crate) fn log_doubt(
    network: Network,
    reported: Option<&str>,
    traced: Result<TransferStatus, ProofError>,
) -> Result<TransferStatus, Failure> {
    traced.map_err(|doubt| {
        let transaction = reported.and_then(logged_hash);
        tracing::warn!(%network, transaction, kind = %doubt, "The state of a payment is unknown");
        Failure::from(doubt)
    })
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
