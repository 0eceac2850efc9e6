//! Who moves x402's money: our own settler, or a facilitator elsewhere.

use async_trait::async_trait;
use order::model::chain::{EvmAddress, Network};
use order::model::money::Usdc;
use order::model::payment::Preparation;
use order::ports::Failure;
use order::tender::{Rejection, Unsettled};

use super::credential::Promise;
use crate::movement::{Moved, Movement};

/// Carries promises to the chain.
#[async_trait]
pub trait Facilitator: Send + Sync {
    /// How it serves a network; none while it does not or nobody can tell.
    /// Answers from memory: challenges are made of it.
    fn service(&self, network: Network) -> Option<Service>;

    /// Whether a promise may name this carrier: one that we put, or may have
    /// put, into an offer before.
    fn carrier(&self, network: Network, named: EvmAddress) -> Carrier;

    /// Checks what only the chain can tell: balance, allowance, nonce, and the
    /// signature where a contract must judge it. Moves nothing.
    async fn verify(&self, promise: &Promise, signer: Signer) -> Result<(), Rejection>;

    /// As [`order::tender::Tender::prepare`].
    async fn prepare(
        &self,
        promise: &Promise,
        charge: Usdc,
        earlier: Option<&Preparation>,
    ) -> Result<Preparation, Rejection>;

    /// As [`order::tender::Tender::settle`].
    async fn settle(&self, due: Due<'_>) -> Result<Moved, Unsettled>;

    /// As [`order::tender::Tender::trace`].
    async fn trace(&self, due: Due<'_>, told: Option<&str>) -> Result<Movement, Failure>;
}

/// How a network is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// Whom the payer's promise must name.
    pub carrier: EvmAddress,
    pub sponsoring: Sponsoring,
}

/// Whether the carrier also brings a payer's EIP-2612 permit to the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sponsoring {
    Offered,
    NotOffered,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    Ours,
    Unknown,
}

/// What is known about who signed a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signer {
    /// The payer's own key.
    Key,
    /// Not a key of that address: if it is a contract, the contract knows.
    Undecided,
}

/// One movement of money that was asked for.
#[derive(Clone, Copy)]
pub struct Due<'a> {
    pub promise: &'a Promise,
    pub charge: Usdc,
    pub preparation: &'a Preparation,
}
