//! A way of paying, as the desk sees it.

use std::sync::Arc;

use async_trait::async_trait;

use crate::model::money::{Price, Usdc};
use crate::model::payment::{
    Authorization, Credential, CredentialKeys, Payment, Preparation, Settlement, TenderKind, Terms,
    Trace,
};
use crate::ports::Failure;

/// One way of paying. x402 is one, MPP is one, and the desk cannot tell which.
#[async_trait]
pub trait Tender: Send + Sync {
    fn kind(&self) -> TenderKind;

    fn price(&self) -> Price;

    /// The keys of a credential, whatever its terms are; none where it cannot be read. They
    /// are those that [`read`](Self::read) puts into the authorization.
    fn keys(&self, credential: &Credential) -> CredentialKeys;

    /// Reads the credential and checks against the terms what can be checked
    /// without asking anybody. From here on it is known what would be used up.
    fn read(&self, credential: Credential, terms: &Terms) -> Result<Authorization, Rejection>;

    /// Asks whoever can tell whether what was read is good. Moves nothing.
    async fn verify(&self, authorization: &Authorization) -> Result<(), Rejection>;

    /// Makes ready whatever the settlement needs, so that it is on disk before
    /// anything moves: simulates, signs. Moves nothing. `earlier` is what it
    /// returned last time, which it returns again unless there is a reason.
    async fn prepare(
        &self,
        authorization: &Authorization,
        charge: Usdc,
        earlier: Option<&Preparation>,
    ) -> Result<Preparation, Rejection>;

    /// Moves the money. Asking twice for the same payment moves it once.
    async fn settle(&self, payment: &Payment) -> Result<Settlement, Unsettled>;

    /// Finds out what became of an earlier [`settle`](Self::settle). `told` is the
    /// transaction that was said to have moved it, where one was: a place to look at
    /// first, and no proof.
    async fn trace(&self, payment: &Payment, told: Option<&str>) -> Result<Trace, Failure>;
}

/// Why a settlement brought no evidence that money moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsettled {
    /// Nothing moved, and this authorization will not do. The words are for the payer.
    Refused(String),
    /// Nothing was sent, for a reason that is not the payer's. The same authorization may
    /// be tried again later. The words are for the log.
    Withdrawn(String),
    /// The money may have moved, or may still move.
    Lost(String),
}

impl From<Failure> for Unsettled {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(reason) => Self::Refused(reason),
            Failure::Lost(why) => Self::Lost(why),
        }
    }
}

/// Why a credential is not accepted. Nothing has moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// It is not a promise to pay these terms. The words are for the payer.
    Invalid(String),
    /// It pays the right amount to another account than the seller has now.
    PayeeChanged,
    /// The payer has not allowed Permit2 to move the token yet.
    AllowanceMissing,
    /// Whom we ask to check or carry it cannot be reached or is not configured.
    Unavailable,
}

/// The ways of paying that are open here, to ask what became of the money.
pub struct Tenders(pub Vec<Arc<dyn Tender>>);

impl Tenders {
    /// None where that way is closed now; money that may still move waits until it is open again.
    pub fn of(&self, kind: TenderKind) -> Option<&dyn Tender> {
        self.0.iter().map(|tender| &**tender).find(|tender| tender.kind() == kind)
    }
}
