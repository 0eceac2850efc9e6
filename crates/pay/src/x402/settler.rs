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

    /// What is known about a payer's account. Answers from memory, because a credential is
    /// checked with it before any outside call.
    fn known_account(&self, network: Network, payer: EvmAddress) -> KnownAccount;

    /// Checks what only the chain knows: balance, allowance, nonce, and the signature if the
    /// code of the payer's account has to check it. Moves no money.
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

/// What can confirm the signature of an authorization. The length of a signature does not tell:
/// the owner of a smart wallet signs with 65 bytes too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureKind {
    /// It recovers to the payer's own address. Only an account that has both a key and code
    /// (EIP-7702) can still reject it.
    Key,
    /// It does not. If the payer's account has code, the code can accept it (ERC-1271).
    Contract,
}

/// What is known about an account without asking the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownAccount {
    /// A node said a short time ago that it has no code.
    WithoutCode,
    /// It may have code.
    Unknown,
}

/// A payment to settle or to trace.
#[derive(Clone, Copy)]
pub struct Permit2Payment<'a> {
    pub authorization: &'a Permit2Authorization,
    pub charge: Usdc,
    pub preparation: &'a Preparation,
}
