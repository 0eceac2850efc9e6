//! The port that settles Permit2 authorizations: our own sender, or a remote x402 facilitator.

use async_trait::async_trait;
use order::model::chain::{EvmAddress, Network};
use order::model::money::Usdc;
use order::model::payment::Preparation;
use order::ports::Failure;
use order::tender::{Rejection, Unsettled};

use super::credential::Permit2Authorization;
use crate::transfer::{ConfirmedTransfer, TransferStatus};

/// Broadcasts Permit2 authorizations.
#[async_trait]
pub trait Permit2Settler: Send + Sync {
    /// How a network is supported; `None` if it is not supported or the support is not known
    /// yet. Answers from memory, because every challenge is built from it.
    fn support(&self, network: Network) -> Option<Permit2Support>;

    /// Whether an authorization may name this facilitator: ours are all addresses that a
    /// challenge names or may have named before.
    fn classify_facilitator(&self, network: Network, named: EvmAddress) -> FacilitatorAddress;

    /// Checks what only the chain knows: balance, allowance, nonce, and the signature if a
    /// contract has to check it. Moves no money.
    async fn verify(
        &self,
        authorization: &Permit2Authorization,
        signature: SignatureKind,
    ) -> Result<(), Rejection>;

    /// See [`order::tender::Session::prepare`].
    async fn prepare(
        &self,
        authorization: &Permit2Authorization,
        charge: Usdc,
        earlier: Option<&Preparation>,
    ) -> Result<Preparation, Rejection>;

    /// See [`order::tender::Session::settle`].
    async fn settle(&self, due: Permit2Payment<'_>) -> Result<ConfirmedTransfer, Unsettled>;

    /// See [`order::tender::Session::trace`]. `reported` is the transaction that a facilitator
    /// reported, if it did.
    async fn trace(
        &self,
        due: Permit2Payment<'_>,
        reported: Option<&str>,
    ) -> Result<TransferStatus, Failure>;
}

/// How a network is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permit2Support {
    /// The address that the payer's authorization must name.
    pub facilitator: EvmAddress,
    pub sponsoring: GasSponsoring,
}

/// Whether the settler also broadcasts a payer's EIP-2612 permit, at its own cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GasSponsoring {
    Offered,
    NotOffered,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FacilitatorAddress {
    Ours,
    Unknown,
}

/// What has to check the signature of an authorization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureKind {
    /// Made with the payer's key, which was checked without the chain.
    Key,
    /// Too long for a key. If the payer is a contract, only the contract can check it (EIP-1271).
    Contract,
}

/// A payment to settle or to trace.
#[derive(Clone, Copy)]
pub struct Permit2Payment<'a> {
    pub authorization: &'a Permit2Authorization,
    pub charge: Usdc,
    pub preparation: &'a Preparation,
}
