//! The port that settles EIP-3009 transfer authorizations.

use async_trait::async_trait;
use order::model::chain::Network;
use order::model::payment::Preparation;
use order::ports::Failure;
use order::tender::{Rejection, Unsettled};

use super::credential::TransferAuthorization;
use crate::transfer::{ConfirmedTransfer, TransferStatus};

/// Broadcasts transfer authorizations. Any account may broadcast one, and the whole value is
/// transferred or nothing: there is no separate charge.
#[async_trait]
pub trait TransferSettler: Send + Sync {
    /// Whether a network is supported now. Answers from memory, because every challenge
    /// depends on it.
    fn support(&self, network: Network) -> TransferSupport;

    /// Simulates the transfer, to check what only the chain knows: balance, nonce, blocklist,
    /// pause, and an account whose code would check the signature. Moves no money. The reason
    /// of a rejection is shown to the payer. An authorization with which this very transfer
    /// was made already is not rejected.
    async fn verify(
        &self,
        authorization: &TransferAuthorization,
    ) -> Result<AuthorizationUse, Rejection>;

    /// See [`order::tender::Session::prepare`]. Also returns whether the authorization was used
    /// since it was verified.
    async fn prepare(
        &self,
        authorization: &TransferAuthorization,
        earlier: Option<&Preparation>,
    ) -> Result<PreparedTransfer, Rejection>;

    /// See [`order::tender::Session::settle`]. A transfer that another account made with the
    /// same authorization to the same seller counts as settled.
    async fn settle(&self, due: TransferPayment<'_>) -> Result<ConfirmedTransfer, Unsettled>;

    /// See [`order::tender::Session::trace`]. `reported` is the transaction that a facilitator
    /// reported, if it did.
    async fn trace(
        &self,
        due: TransferPayment<'_>,
        reported: Option<&str>,
    ) -> Result<TransferStatus, Failure>;
}

/// Whether a network is supported. An authorization names no facilitator, so there are no
/// details.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferSupport {
    Offered,
    NotOffered,
}

/// Whether a valid authorization was used already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthorizationUse {
    Unused,
    /// This very transfer was made with it.
    Used,
}

/// What is ready to be settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedTransfer {
    pub preparation: Preparation,
    pub usage: AuthorizationUse,
}

/// A payment to settle or to trace.
#[derive(Clone, Copy)]
pub struct TransferPayment<'a> {
    pub authorization: &'a TransferAuthorization,
    pub preparation: &'a Preparation,
}
