//! Who moves MPP's money: our own settler, or anybody else who pays the gas.

use async_trait::async_trait;
use order::model::chain::Network;
use order::model::payment::Preparation;
use order::ports::Failure;
use order::tender::{Rejection, Unsettled};

use super::credential::Authorization;
use crate::movement::{Moved, Movement};

/// Carries authorizations to the chain. Anybody may carry one, and all of it moves
/// or nothing: there is no charge beside the authorization's own value.
#[async_trait]
pub trait Facilitator: Send + Sync {
    /// Whether it serves a network now. Answers from memory: challenges are made of
    /// it.
    fn service(&self, network: Network) -> Service;

    /// Checks what only the chain can tell, by trying the very transfer: balance,
    /// nonce, blacklist, pause, and an account whose code would judge the signature.
    /// Moves nothing. What it rejects is told to the payer in its words; what somebody
    /// else has carried already, to the same end, is no rejection.
    async fn verify(&self, authorization: &Authorization) -> Result<Found, Rejection>;

    /// As [`order::tender::Tender::prepare`]; and whether somebody has carried it since
    /// it was verified.
    async fn prepare(
        &self,
        authorization: &Authorization,
        earlier: Option<&Preparation>,
    ) -> Result<Prepared, Rejection>;

    /// As [`order::tender::Tender::settle`]. Money that somebody else moved with the
    /// same authorization to the same seller is moved all the same.
    async fn settle(&self, due: Due<'_>) -> Result<Moved, Unsettled>;

    /// As [`order::tender::Tender::trace`].
    async fn trace(&self, due: Due<'_>, told: Option<&str>) -> Result<Movement, Failure>;
}

/// How a network is served. No authorization names who carries it, so there is
/// nothing more to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    Offered,
    NotOffered,
}

/// Whether a good authorization is still to be carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    Unused,
    /// Somebody has made this very transfer with it.
    Carried,
}

/// What is ready to be settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    pub preparation: Preparation,
    pub found: Found,
}

/// One movement of money that was asked for.
#[derive(Clone, Copy)]
pub struct Due<'a> {
    pub authorization: &'a Authorization,
    pub preparation: &'a Preparation,
}
