//! x402 as a tender: local checks here, everything on the chain through the settler.

use std::sync::Arc;

use async_trait::async_trait;
use order::model::ids::Timestamp;
use order::model::money::{CEILING, Price, Usdc};
use order::model::payment::{
    Authorization, Credential, CredentialKeys, Instrument, Payment, PaymentKey, Preparation,
    Settlement, TenderKind, Terms, Trace,
};
use order::ports::Failure;
use order::tender::{
    CheckedCredential, PresentedCredential, Rejection, Session, Tender, Unsettled,
};

use super::challenge::ChallengeCache;
use super::checks::{CredentialCheck, SignedAuthorization};
use super::credential::{self, Payload, Permit2Authorization};
use super::extensions::Extensions;
use super::receipt;
use super::resource::Resource;
use super::settler::{Permit2Payment, Permit2Settler, SignatureKind};
use super::signature::signature_kind;
use crate::mode::PaymentMode;

/// Payment by x402.
pub struct X402 {
    pub(super) settler: Arc<dyn Permit2Settler>,
    pub(super) resource: Resource,
    pub(super) extensions: Extensions,
    pub(super) challenge_cache: ChallengeCache,
    pub(super) mode: PaymentMode,
}

impl X402 {
    pub fn new(settler: Arc<dyn Permit2Settler>, resource: Resource) -> Self {
        let (extensions, challenge_cache) = (Extensions::new(), ChallengeCache::default());
        Self { settler, resource, extensions, challenge_cache, mode: PaymentMode::default() }
    }

    /// The same, for money of this kind.
    #[must_use]
    pub fn in_mode(self, mode: PaymentMode) -> Self {
        Self { mode, ..self }
    }
}

impl Tender for X402 {
    fn kind(&self) -> TenderKind {
        TenderKind::X402
    }

    fn price(&self) -> Price {
        Price::UpTo(CEILING)
    }

    fn read(&self, credential: Credential) -> Box<dyn PresentedCredential<'_> + '_> {
        let payload = Payload::parse(&credential);
        let keys = keys(&credential, payload.as_ref().ok());
        Box::new(Presented { x402: self, credential, payload, keys })
    }

    fn resume(&self, payment: &Payment) -> Option<Box<dyn Session + '_>> {
        let authorization = Permit2Authorization::read(&payment.authorization.credential).ok()?;
        Some(Box::new(X402Session { x402: self, authorization, signature: None }))
    }
}

/// A credential of a request.
struct Presented<'a> {
    x402: &'a X402,
    credential: Credential,
    payload: Result<Payload, Rejection>,
    keys: CredentialKeys,
}

impl<'a> PresentedCredential<'a> for Presented<'a> {
    fn keys(&self) -> &CredentialKeys {
        &self.keys
    }

    fn check(self: Box<Self>, terms: &Terms) -> Result<CheckedCredential<'a>, Rejection> {
        let Self { x402, credential, payload, keys } = *self;
        let settler = x402.settler.as_ref();
        let (resource, extensions) = (&x402.resource, &x402.extensions);
        let check = CredentialCheck { terms, settler, resource, extensions };
        let SignedAuthorization { authorization: signed, signature } = check.run(payload?)?;
        let authorization = authorization(credential, &signed, keys.all());
        let session =
            Box::new(X402Session { x402, authorization: signed, signature: Some(signature) });
        Ok(CheckedCredential { authorization, session })
    }
}

/// One authorization, and the settler that can move its money.
struct X402Session<'a> {
    x402: &'a X402,
    authorization: Permit2Authorization,
    /// None after a restart: only `verify` needs it, and it takes an elliptic curve recovery.
    signature: Option<SignatureKind>,
}

impl X402Session<'_> {
    fn payment<'a>(&'a self, payment: &'a Payment) -> Permit2Payment<'a> {
        let (charge, preparation) = (payment.charge, &payment.preparation);
        Permit2Payment { authorization: &self.authorization, charge, preparation }
    }
}

#[async_trait]
impl Session for X402Session<'_> {
    async fn verify(&self) -> Result<(), Rejection> {
        let authorization = &self.authorization;
        let signature = self.signature.unwrap_or_else(|| signature_kind(authorization));
        self.x402.settler.verify(authorization, signature).await
    }

    async fn prepare(
        &self,
        charge: Usdc,
        earlier: Option<&Preparation>,
    ) -> Result<Preparation, Rejection> {
        let authorization = &self.authorization;
        // A charge of zero would be settled without a transaction, and the authorization
        // stays unspent. More than the authorized amount is refused by the chain.
        if charge.atomic() == 0 || charge > authorization.most {
            let reason = "invalid_upto_evm_payload_settlement_exceeds_amount";
            return Err(Rejection::Invalid(receipt::failure(authorization, reason)));
        }
        let prepared = self.x402.settler.prepare(authorization, charge, earlier).await;
        prepared.map_err(|why| match why {
            Rejection::Invalid(reason) => {
                Rejection::Invalid(receipt::failure(authorization, &reason))
            }
            Rejection::PayeeChanged | Rejection::AllowanceMissing | Rejection::Unavailable => why,
        })
    }

    async fn settle(&self, payment: &Payment) -> Result<Settlement, Unsettled> {
        let authorization = &self.authorization;
        let moved = self.x402.settler.settle(self.payment(payment)).await;
        moved.map(|moved| receipt::settlement(authorization, payment.charge, moved)).map_err(
            |why| match why {
                Unsettled::Refused(reason) => {
                    Unsettled::Refused(receipt::failure(authorization, &reason))
                }
                Unsettled::Withdrawn(_) | Unsettled::Lost(_) => why,
            },
        )
    }

    async fn trace(&self, payment: &Payment, told: Option<&str>) -> Result<Trace, Failure> {
        let trace = self.x402.settler.trace(self.payment(payment), told).await?;
        Ok(trace.map(|moved| receipt::settlement(&self.authorization, payment.charge, moved)))
    }
}

/// The keys of a credential that may not parse as a whole.
fn keys(credential: &Credential, payload: Option<&Payload>) -> CredentialKeys {
    let fields = payload.and_then(|payload| payload.fields.as_ref().ok());
    let identifier = credential::identifier(credential).ok().flatten();
    CredentialKeys {
        spent: Vec::from_iter(fields.map(|fields| nonce_key(&fields.authorization))),
        identifier: identifier.map(|id| PaymentKey::of_identifier(&id)),
    }
}

fn nonce_key(signed: &Permit2Authorization) -> PaymentKey {
    PaymentKey::of_nonce(Instrument::Permit2, signed.network, signed.payer, signed.nonce)
}

fn authorization(
    credential: Credential,
    signed: &Permit2Authorization,
    keys: Vec<PaymentKey>,
) -> Authorization {
    let Permit2Authorization { network, payer, pay_to, most, deadline, .. } = *signed;
    Authorization {
        tender: TenderKind::X402,
        network,
        payer,
        pay_to,
        most,
        deadline: Timestamp(deadline),
        keys,
        digest: credential.digest(),
        credential,
    }
}
