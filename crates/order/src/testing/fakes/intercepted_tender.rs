//! A fake tender whose calls a test can delay, fail or accompany.

use async_trait::async_trait;

use super::tender::FakeTender;
use crate::model::money::{Price, Usdc};
use crate::model::payment::{
    Credential, CredentialDigest, CredentialKeys, Payment, Preparation, Settlement, TenderKind,
    Terms, Trace,
};
use crate::ports::Failure;
use crate::tender::{
    CheckedCredential, PresentedCredential, Rejection, Session, Tender, Unsettled,
};

/// A call of a [`Session`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionCall {
    Verify,
    Prepare,
    Settle,
    Trace,
}

/// What a test does before a call of a session.
#[async_trait]
pub trait Interceptor: Send + Sync {
    /// The call is made if this returns `Ok`. Otherwise it fails with this reason: verify,
    /// prepare and settle are refused, trace is lost.
    async fn before(&self, call: SessionCall, credential: CredentialDigest) -> Result<(), String>;
}

/// A fake tender with an interceptor.
pub struct InterceptedTender<I> {
    pub tender: FakeTender,
    pub interceptor: I,
}

impl<I: Interceptor> Tender for InterceptedTender<I> {
    fn kind(&self) -> TenderKind {
        self.tender.kind()
    }

    fn price(&self) -> Price {
        self.tender.price()
    }

    fn read(&self, credential: Credential) -> Box<dyn PresentedCredential<'_> + '_> {
        let digest = credential.digest();
        let presented = self.tender.read(credential);
        Box::new(InterceptedCredential { interceptor: &self.interceptor, presented, digest })
    }

    fn resume(&self, payment: &Payment) -> Option<Box<dyn Session + '_>> {
        let session = self.tender.resume(payment)?;
        let digest = payment.authorization.digest;
        Some(Box::new(InterceptedSession { interceptor: &self.interceptor, session, digest }))
    }
}

struct InterceptedCredential<'a, I> {
    interceptor: &'a I,
    presented: Box<dyn PresentedCredential<'a> + 'a>,
    digest: CredentialDigest,
}

impl<'a, I: Interceptor> PresentedCredential<'a> for InterceptedCredential<'a, I> {
    fn keys(&self) -> &CredentialKeys {
        self.presented.keys()
    }

    fn check(self: Box<Self>, terms: &Terms) -> Result<CheckedCredential<'a>, Rejection> {
        let Self { interceptor, presented, digest } = *self;
        let CheckedCredential { authorization, session } = presented.check(terms)?;
        let session = Box::new(InterceptedSession { interceptor, session, digest });
        Ok(CheckedCredential { authorization, session })
    }
}

struct InterceptedSession<'a, I> {
    interceptor: &'a I,
    session: Box<dyn Session + 'a>,
    digest: CredentialDigest,
}

#[async_trait]
impl<I: Interceptor> Session for InterceptedSession<'_, I> {
    async fn verify(&self) -> Result<(), Rejection> {
        let before = self.interceptor.before(SessionCall::Verify, self.digest).await;
        before.map_err(Rejection::Invalid)?;
        self.session.verify().await
    }

    async fn prepare(
        &self,
        charge: Usdc,
        earlier: Option<&Preparation>,
    ) -> Result<Preparation, Rejection> {
        let before = self.interceptor.before(SessionCall::Prepare, self.digest).await;
        before.map_err(Rejection::Invalid)?;
        self.session.prepare(charge, earlier).await
    }

    async fn settle(&self, payment: &Payment) -> Result<Settlement, Unsettled> {
        let before = self.interceptor.before(SessionCall::Settle, self.digest).await;
        before.map_err(Unsettled::Refused)?;
        self.session.settle(payment).await
    }

    async fn trace(&self, payment: &Payment, told: Option<&str>) -> Result<Trace, Failure> {
        let before = self.interceptor.before(SessionCall::Trace, self.digest).await;
        before.map_err(Failure::Lost)?;
        self.session.trace(payment, told).await
    }
}
