//! A way of paying, as the checkout and the reconciler see it.

use std::sync::Arc;

use async_trait::async_trait;

use crate::model::money::{Price, Usdc};
use crate::model::payment::{
    Authorization, Credential, CredentialKeys, Payment, Preparation, Settlement, TenderKind, Terms,
    Trace,
};
use crate::ports::Failure;

/// One way of paying: x402 or MPP. Decisions about an order do not depend on which.
pub trait Tender: Send + Sync {
    fn kind(&self) -> TenderKind;

    fn price(&self) -> Price;

    /// Parses a credential. One that does not parse has no keys, and fails its check.
    fn read(&self, credential: Credential) -> Box<dyn PresentedCredential<'_> + '_>;

    /// The session of a payment whose credential was checked earlier. None if the stored
    /// credential does not parse: then nothing is known about its money.
    fn resume(&self, payment: &Payment) -> Option<Box<dyn Session + '_>>;
}

/// A credential as it was sent: parsed, and not checked.
pub trait PresentedCredential<'a>: Send + Sync {
    /// The keys that the authorization will have.
    fn keys(&self) -> &CredentialKeys;

    /// Checks the credential against the terms, without any outside call.
    fn check(self: Box<Self>, terms: &Terms) -> Result<CheckedCredential<'a>, Rejection>;
}

/// A credential that pays the terms it was checked against.
pub struct CheckedCredential<'a> {
    pub authorization: Authorization,
    pub session: Box<dyn Session + 'a>,
}

/// What can be done with one parsed credential.
#[async_trait]
pub trait Session: Send + Sync {
    /// Asks the chain or the facilitator whether the credential is good. Moves nothing.
    async fn verify(&self) -> Result<(), Rejection>;

    /// Simulates the settlement, and returns what must be written before anything moves. Moves
    /// nothing. `earlier` is the previous result, which is returned again unless it cannot be
    /// used any more.
    async fn prepare(
        &self,
        charge: Usdc,
        earlier: Option<&Preparation>,
    ) -> Result<Preparation, Rejection>;

    /// Moves the money. Two calls for the same payment move it once.
    async fn settle(&self, payment: &Payment) -> Result<Settlement, Unsettled>;

    /// Finds out what became of an earlier [`settle`](Self::settle). `told` is the
    /// transaction that is said to have moved it: where to look first, and no proof.
    async fn trace(&self, payment: &Payment, told: Option<&str>) -> Result<Trace, Failure>;
}

/// Why a settlement has no evidence that money moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsettled {
    /// Nothing moved, and this authorization cannot pay. The text is for the payer.
    Refused(String),
    /// Nothing was sent, for a reason that is not the payer's. The same authorization may
    /// be tried again later. The text is for the log.
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
    /// It does not pay these terms. The text is for the payer.
    Invalid(String),
    /// It pays the right amount to another account than the seller has now.
    PayeeChanged,
    /// The payer has not approved Permit2 for the token yet.
    AllowanceMissing,
    /// The node or facilitator that checks or sends it does not answer or is not configured.
    Unavailable,
}

/// The ways of paying that are enabled.
pub struct Tenders(pub Vec<Arc<dyn Tender>>);

impl Tenders {
    /// The session of a payment that was checked earlier. None if its way of paying is not
    /// enabled now: money that may still move waits until it is.
    pub fn resume(&self, payment: &Payment) -> Option<Box<dyn Session + '_>> {
        let kind = payment.authorization.tender;
        self.0.iter().find(|tender| tender.kind() == kind)?.resume(payment)
    }
}
