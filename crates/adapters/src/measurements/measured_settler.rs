//! A settler whose settlements and traces are counted and logged.

use std::sync::Arc;

use async_trait::async_trait;
use order::model::chain::{EvmAddress, Network};
use order::model::money::Usdc;
use order::model::payment::Preparation;
use order::ports::Failure;
use order::tender::{Rejection, Unsettled};
use pay::mpp::credential::TransferAuthorization;
use pay::mpp::settler::{
    AuthorizationUse, PreparedTransfer, TransferPayment, TransferSettler, TransferSupport,
};
use pay::transfer::{ConfirmedTransfer, TransferStatus};
use pay::x402::credential::Permit2Authorization;
use pay::x402::settler::{
    FacilitatorAddress, KnownAccount, Permit2Payment, Permit2Settler, Permit2Support, SignatureKind,
};

use super::{MeasuredPayment, measure_settlement, measure_trace};
use crate::settlement::outcome_log::{log_found, log_settled};

/// Counts and logs what moves an order on. Evidence only reads, and uses the settler itself.
pub struct MeasuredSettler<S: ?Sized>(pub Arc<S>);

#[async_trait]
impl Permit2Settler for MeasuredSettler<dyn Permit2Settler> {
    fn support(&self, network: Network) -> Option<Permit2Support> {
        self.0.support(network)
    }

    fn classify_facilitator(&self, network: Network, named: EvmAddress) -> FacilitatorAddress {
        self.0.classify_facilitator(network, named)
    }

    fn known_account(&self, network: Network, payer: EvmAddress) -> KnownAccount {
        self.0.known_account(network, payer)
    }

    async fn verify(
        &self,
        authorization: &Permit2Authorization,
        signature: SignatureKind,
    ) -> Result<(), Rejection> {
        self.0.verify(authorization, signature).await
    }

    async fn prepare(
        &self,
        authorization: &Permit2Authorization,
        charge: Usdc,
        earlier: Option<&Preparation>,
    ) -> Result<Preparation, Rejection> {
        self.0.prepare(authorization, charge, earlier).await
    }

    async fn settle(&self, due: Permit2Payment<'_>) -> Result<ConfirmedTransfer, Unsettled> {
        let settled = measure_settlement(MeasuredPayment::x402(due), self.0.settle(due)).await;
        log_settled(due.authorization.network, &settled);
        settled
    }

    async fn trace(
        &self,
        due: Permit2Payment<'_>,
        reported: Option<&str>,
    ) -> Result<TransferStatus, Failure> {
        let traced = self.0.trace(due, reported).await;
        measure_trace(MeasuredPayment::x402(due), reported, &traced);
        log_found(due.authorization.network, reported, &traced);
        traced
    }
}

#[async_trait]
impl TransferSettler for MeasuredSettler<dyn TransferSettler> {
    fn support(&self, network: Network) -> TransferSupport {
        self.0.support(network)
    }

    async fn verify(
        &self,
        authorization: &TransferAuthorization,
    ) -> Result<AuthorizationUse, Rejection> {
        self.0.verify(authorization).await
    }

    async fn prepare(
        &self,
        authorization: &TransferAuthorization,
        earlier: Option<&Preparation>,
    ) -> Result<PreparedTransfer, Rejection> {
        self.0.prepare(authorization, earlier).await
    }

    async fn settle(&self, due: TransferPayment<'_>) -> Result<ConfirmedTransfer, Unsettled> {
        let payment = MeasuredPayment::mpp(due.authorization);
        let settled = measure_settlement(payment, self.0.settle(due)).await;
        log_settled(due.authorization.network, &settled);
        settled
    }

    async fn trace(
        &self,
        due: TransferPayment<'_>,
        reported: Option<&str>,
    ) -> Result<TransferStatus, Failure> {
        let traced = self.0.trace(due, reported).await;
        measure_trace(MeasuredPayment::mpp(due.authorization), reported, &traced);
        log_found(due.authorization.network, reported, &traced);
        traced
    }
}

#[cfg(test)]
mod tests;
