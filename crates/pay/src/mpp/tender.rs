//! MPP as a tender: local checks here, everything on the chain through the settler.

use std::sync::Arc;

use async_trait::async_trait;
use order::model::ids::Timestamp;
use order::model::money::{CEILING, Price, Usdc};
use order::model::payment::{
    self, Credential, CredentialKeys, Instrument, Payment, PaymentKey, Preparation, Settlement,
    TenderKind, Terms, Trace,
};
use order::ports::Failure;
use order::tender::{
    CheckedCredential, PresentedCredential, Rejection, Session, Tender, Unsettled,
};

use super::challenge::{ChallengeCache, RandomBytes};
use super::challenge_id::{ChallengeSecrets, Realm};
use super::checks::{CredentialCheck, ParsedPayment};
use super::credential::{ParsedCredential, PaymentProof, TransferAuthorization};
use super::problem::CredentialProblem;
use super::receipt;
use super::settler::{AuthorizationUse, TransferPayment, TransferSettler};
use crate::mode::PaymentMode;
use crate::x402::resource::Resource;

/// Payment by MPP.
pub struct Mpp {
    pub facilitator: Arc<dyn TransferSettler>,
    pub realm: Realm,
    pub secrets: ChallengeSecrets,
    pub randomness: Arc<RandomBytes>,
    /// The paid endpoint, for clients that speak x402 to it.
    pub resource: Resource,
    pub(super) challenge_cache: ChallengeCache,
    pub(super) mode: PaymentMode,
}

impl Mpp {
    pub fn new(
        facilitator: Arc<dyn TransferSettler>,
        realm: Realm,
        secrets: ChallengeSecrets,
        randomness: Arc<RandomBytes>,
        resource: Resource,
    ) -> Self {
        let (challenge_cache, mode) = (ChallengeCache::default(), PaymentMode::default());
        Self { facilitator, realm, secrets, randomness, resource, challenge_cache, mode }
    }

    /// The same, for money of this kind.
    #[must_use]
    pub fn in_mode(self, mode: PaymentMode) -> Self {
        Self { mode, ..self }
    }
}

impl Tender for Mpp {
    fn kind(&self) -> TenderKind {
        TenderKind::Mpp
    }

    fn price(&self) -> Price {
        Price::Fixed(CEILING)
    }

    fn read(&self, credential: Credential) -> Box<dyn PresentedCredential<'_> + '_> {
        let parsed = ParsedCredential::of(&credential);
        let keys = parsed.as_ref().map(presented_keys).unwrap_or_default();
        Box::new(Presented { mpp: self, credential, parsed, keys })
    }

    fn resume(&self, payment: &Payment) -> Option<Box<dyn Session + '_>> {
        let ParsedCredential { proof, authorization } =
            ParsedCredential::of(&payment.authorization.credential).ok()?;
        let payment = ParsedPayment { proof, authorization: authorization.ok()? };
        Some(Box::new(MppSession { mpp: self, payment }))
    }
}

/// A credential of a request.
struct Presented<'a> {
    mpp: &'a Mpp,
    credential: Credential,
    parsed: Result<ParsedCredential, Rejection>,
    keys: CredentialKeys,
}

impl<'a> PresentedCredential<'a> for Presented<'a> {
    fn keys(&self) -> &CredentialKeys {
        &self.keys
    }

    fn check(self: Box<Self>, terms: &Terms) -> Result<CheckedCredential<'a>, Rejection> {
        let Self { mpp, credential, parsed, .. } = *self;
        let Mpp { realm, secrets, resource, mode, .. } = mpp;
        let check = CredentialCheck { terms, realm, secrets, resource, mode: *mode };
        let payment = check.run(parsed?)?;
        let authorization = authorization(credential, &payment);
        let session = Box::new(MppSession { mpp, payment });
        Ok(CheckedCredential { authorization, session })
    }
}

/// One transfer authorization, and the settler that can send it.
struct MppSession<'a> {
    mpp: &'a Mpp,
    payment: ParsedPayment,
}

impl MppSession<'_> {
    fn payment<'a>(&'a self, payment: &'a Payment) -> TransferPayment<'a> {
        TransferPayment {
            authorization: &self.payment.authorization,
            preparation: &payment.preparation,
        }
    }
}

#[async_trait]
impl Session for MppSession<'_> {
    async fn verify(&self) -> Result<(), Rejection> {
        let found = self.mpp.facilitator.verify(&self.payment.authorization).await;
        for_this(&self.payment.proof, found.map_err(no_allowance)?)
    }

    async fn prepare(
        &self,
        charge: Usdc,
        earlier: Option<&Preparation>,
    ) -> Result<Preparation, Rejection> {
        let ParsedPayment { proof, authorization } = &self.payment;
        // All of a transfer moves, or nothing.
        if charge != authorization.value {
            return Err(CredentialProblem::VerificationFailed
                .rejection("The transfer moves another amount than is due."));
        }
        let prepared = self.mpp.facilitator.prepare(authorization, earlier).await;
        let prepared = prepared.map_err(no_allowance)?;
        // During the quote it may have paid for something else. Once we have sent it, the
        // account that sends it may have it from us.
        if earlier.is_none() {
            for_this(proof, prepared.usage)?;
        }
        Ok(prepared.preparation)
    }

    async fn settle(&self, payment: &Payment) -> Result<Settlement, Unsettled> {
        let moved = self.mpp.facilitator.settle(self.payment(payment)).await?;
        Ok(receipt::settlement(&self.payment.proof, &self.payment.authorization, moved))
    }

    async fn trace(&self, payment: &Payment, told: Option<&str>) -> Result<Trace, Failure> {
        let trace = self.mpp.facilitator.trace(self.payment(payment), told).await?;
        let ParsedPayment { proof, authorization } = &self.payment;
        Ok(trace.map(|moved| receipt::settlement(proof, authorization, moved)))
    }
}

/// A credential that came with another body than its challenge was made for has no keys: it
/// is answered with a challenge for this body.
fn presented_keys(parsed: &ParsedCredential) -> CredentialKeys {
    let ParsedCredential { proof, authorization } = parsed;
    let transfer = authorization.as_ref().ok().filter(|_| proof.is_for_its_body());
    let spent = transfer.map(|transfer| keys(proof, transfer)).unwrap_or_default();
    CredentialKeys { spent, identifier: None }
}

/// The nonce of an answer to our challenge is good for us alone, so the account that sent it
/// paid us. A nonce of the payer's own may have paid the same seller for something else.
fn for_this(proof: &PaymentProof, found: AuthorizationUse) -> Result<(), Rejection> {
    match (proof, found) {
        (PaymentProof::Payment(_), AuthorizationUse::Unused | AuthorizationUse::Used)
        | (PaymentProof::Exact(_), AuthorizationUse::Unused) => Ok(()),
        (PaymentProof::Exact(_), AuthorizationUse::Used) => {
            Err(CredentialProblem::VerificationFailed
                .rejection("The transfer was made before. Sign one with a new nonce."))
        }
    }
}

/// A transfer needs no allowance, so no payer is asked for one.
fn no_allowance(why: Rejection) -> Rejection {
    match why {
        Rejection::AllowanceMissing => Rejection::Unavailable,
        Rejection::Invalid(_) | Rejection::PayeeChanged | Rejection::Unavailable => why,
    }
}

/// What may be used once only: the challenge, where one is answered, since two nonces
/// answer it; and the nonce, with which the chain would be asked twice otherwise.
fn keys(proof: &PaymentProof, transfer: &TransferAuthorization) -> Vec<PaymentKey> {
    let TransferAuthorization { network, from, nonce, .. } = *transfer;
    let challenge = proof.challenge().map(|id| PaymentKey::of_challenge(id.as_bytes()));
    let nonce = PaymentKey::of_nonce(Instrument::TransferAuthorization, network, from, nonce);
    challenge.into_iter().chain([nonce]).collect()
}

fn authorization(credential: Credential, held: &ParsedPayment) -> payment::Authorization {
    let TransferAuthorization { network, from, to, value, valid_before, .. } = held.authorization;
    payment::Authorization {
        tender: TenderKind::Mpp,
        network,
        payer: from,
        pay_to: to,
        most: value,
        deadline: Timestamp(valid_before),
        keys: keys(&held.proof, &held.authorization),
        digest: credential.digest(),
        credential,
    }
}
