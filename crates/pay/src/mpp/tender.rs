//! MPP as the desk sees it: checks what can be checked here, and leaves the chain to its port.

use std::sync::Arc;

use async_trait::async_trait;
use order::model::ids::Timestamp;
use order::model::money::{CEILING, Price, Usdc};
use order::model::payment::{
    self, Credential, CredentialKeys, Instrument, Payment, PaymentKey, Preparation, Settlement,
    TenderKind, Terms, Trace,
};
use order::ports::Failure;
use order::tender::{Rejection, Tender, Unsettled};

use super::binding::{Realm, Secrets};
use super::challenge::{Randomness, Usual};
use super::checks::{Held, Measure};
use super::credential::{Authorization, Proof};
use super::facilitator::{Due, Facilitator, Found};
use super::problem::Flaw;
use super::receipt;
use crate::mode::Mode;
use crate::movement::Movement;
use crate::x402::resource::Resource;

/// Payment by MPP.
pub struct Mpp {
    pub facilitator: Arc<dyn Facilitator>,
    pub realm: Realm,
    pub secrets: Secrets,
    pub randomness: Arc<Randomness>,
    /// The paid endpoint, for clients that speak x402 to it.
    pub resource: Resource,
    pub(super) usual: Usual,
    pub(super) mode: Mode,
}

impl Mpp {
    pub fn new(
        facilitator: Arc<dyn Facilitator>,
        realm: Realm,
        secrets: Secrets,
        randomness: Arc<Randomness>,
        resource: Resource,
    ) -> Self {
        let (usual, mode) = (Usual::default(), Mode::default());
        Self { facilitator, realm, secrets, randomness, resource, usual, mode }
    }

    /// The same, for money of this kind.
    #[must_use]
    pub fn in_mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }
}

#[async_trait]
impl Tender for Mpp {
    fn kind(&self) -> TenderKind {
        TenderKind::Mpp
    }

    fn price(&self) -> Price {
        Price::Fixed(CEILING)
    }

    /// A credential that came with another body than its challenge was made for is not read:
    /// it is answered with a challenge for this one.
    fn keys(&self, credential: &Credential) -> CredentialKeys {
        let held = read(credential).ok().filter(|held| held.proof.is_for_its_body());
        let spent = held.map(|held| keys(&held)).unwrap_or_default();
        CredentialKeys { spent, identifier: None }
    }

    fn read(
        &self,
        credential: Credential,
        terms: &Terms,
    ) -> Result<payment::Authorization, Rejection> {
        let Self { realm, secrets, resource, mode, .. } = self;
        let held = Measure { terms, realm, secrets, resource, mode: *mode }.hold(&credential)?;
        Ok(authorization(credential, &held))
    }

    async fn verify(&self, authorization: &payment::Authorization) -> Result<(), Rejection> {
        let kept = read(&authorization.credential).map_err(|_| Rejection::Unavailable)?;
        let found = self.facilitator.verify(&kept.authorization).await.map_err(no_allowance)?;
        for_this(&kept.proof, found)
    }

    async fn prepare(
        &self,
        authorization: &payment::Authorization,
        charge: Usdc,
        earlier: Option<&Preparation>,
    ) -> Result<Preparation, Rejection> {
        let kept = read(&authorization.credential).map_err(|_| Rejection::Unavailable)?;
        // All of a transfer moves, or nothing.
        if charge != kept.authorization.value {
            return Err(Flaw::Unverified.because("The transfer moves another amount than is due."));
        }
        let prepared = self.facilitator.prepare(&kept.authorization, earlier).await;
        let prepared = prepared.map_err(no_allowance)?;
        // While we asked for the price it may have bought something else. Once we have
        // sent it ourselves, whoever carries it may have it from us.
        if earlier.is_none() {
            for_this(&kept.proof, prepared.found)?;
        }
        Ok(prepared.preparation)
    }

    async fn settle(&self, payment: &Payment) -> Result<Settlement, Unsettled> {
        let kept = found(payment)?;
        let moved = self.facilitator.settle(due(&kept, payment)).await?;
        Ok(receipt::settlement(&kept.proof, &kept.authorization, moved))
    }

    async fn trace(&self, payment: &Payment, told: Option<&str>) -> Result<Trace, Failure> {
        let kept = found(payment)?;
        Ok(match self.facilitator.trace(due(&kept, payment), told).await? {
            Movement::Moved(moved) => {
                Trace::Moved(receipt::settlement(&kept.proof, &kept.authorization, moved))
            }
            Movement::Open => Trace::Open,
            Movement::Void => Trace::Void,
        })
    }
}

/// The nonce of an answer to our challenge is good for us alone, so whoever carried it
/// paid us. A nonce of the payer's own may have paid the same seller for something else.
fn for_this(proof: &Proof, found: Found) -> Result<(), Rejection> {
    match (proof, found) {
        (Proof::Payment(_), Found::Unused | Found::Carried) | (Proof::Exact(_), Found::Unused) => {
            Ok(())
        }
        (Proof::Exact(_), Found::Carried) => {
            Err(Flaw::Unverified
                .because("The transfer was made before. Sign one with a new nonce."))
        }
    }
}

/// A transfer needs no allowance, so that nobody can be asked for one.
fn no_allowance(why: Rejection) -> Rejection {
    match why {
        Rejection::AllowanceMissing => Rejection::Unavailable,
        Rejection::Invalid(_) | Rejection::PayeeChanged | Rejection::Unavailable => why,
    }
}

/// What may be used once only: the challenge, where one is answered, since two nonces
/// answer it; and the nonce, with which the chain would be asked twice otherwise.
fn keys(held: &Held) -> Vec<PaymentKey> {
    let Authorization { network, from, nonce, .. } = held.authorization;
    let challenge = held.proof.challenge().map(|id| PaymentKey::of_challenge(id.as_bytes()));
    let nonce = PaymentKey::of_nonce(Instrument::TransferAuthorization, network, from, nonce);
    challenge.into_iter().chain([nonce]).collect()
}

fn authorization(credential: Credential, held: &Held) -> payment::Authorization {
    let Authorization { network, from, to, value, valid_before, .. } = held.authorization;
    payment::Authorization {
        tender: TenderKind::Mpp,
        network,
        payer: from,
        pay_to: to,
        most: value,
        deadline: Timestamp(valid_before),
        keys: keys(held),
        digest: credential.digest(),
        credential,
    }
}

fn read(credential: &Credential) -> Result<Held, Rejection> {
    let proof = Proof::open(credential)?;
    let authorization = proof.authorization()?;
    Ok(Held { proof, authorization })
}

/// The transfer behind a payment that was asked for. It read when it was verified;
/// should it not read any more, nothing is known about its money.
fn found(payment: &Payment) -> Result<Held, Failure> {
    read(&payment.authorization.credential)
        .map_err(|_| Failure::Lost("the kept credential does not read".into()))
}

fn due<'a>(kept: &'a Held, payment: &'a Payment) -> Due<'a> {
    Due { authorization: &kept.authorization, preparation: &payment.preparation }
}
