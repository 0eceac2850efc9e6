//! x402 as the desk sees it: checks what can be checked here, and leaves the chain to its port.

use std::sync::Arc;

use async_trait::async_trait;
use order::model::ids::Timestamp;
use order::model::money::{CEILING, Price, Usdc};
use order::model::payment::{
    Authorization, Credential, CredentialKeys, Instrument, Payment, PaymentKey, Preparation,
    Settlement, TenderKind, Terms, Trace,
};
use order::ports::Failure;
use order::tender::{Rejection, Tender, Unsettled};

use super::challenge::Usual;
use super::checks::{Measure, signer};
use super::credential::{self, Promise};
use super::extensions::Extensions;
use super::facilitator::{Due, Facilitator};
use super::receipt;
use super::resource::Resource;
use crate::mode::Mode;
use crate::movement::Movement;

/// Payment by x402.
pub struct X402 {
    pub(super) facilitator: Arc<dyn Facilitator>,
    pub(super) resource: Resource,
    pub(super) extensions: Extensions,
    pub(super) usual: Usual,
    pub(super) mode: Mode,
}

impl X402 {
    pub fn new(facilitator: Arc<dyn Facilitator>, resource: Resource) -> Self {
        let (extensions, usual) = (Extensions::new(), Usual::default());
        Self { facilitator, resource, extensions, usual, mode: Mode::default() }
    }

    /// The same, for money of this kind.
    #[must_use]
    pub fn in_mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }
}

#[async_trait]
impl Tender for X402 {
    fn kind(&self) -> TenderKind {
        TenderKind::X402
    }

    fn price(&self) -> Price {
        Price::UpTo(CEILING)
    }

    fn keys(&self, credential: &Credential) -> CredentialKeys {
        let identifier = credential::identifier(credential).ok().flatten();
        let spent = Promise::read(credential).map(|promise| nonce_key(&promise));
        CredentialKeys {
            spent: Vec::from_iter(spent),
            identifier: identifier.map(|id| PaymentKey::of_identifier(&id)),
        }
    }

    fn read(&self, credential: Credential, terms: &Terms) -> Result<Authorization, Rejection> {
        let facilitator = self.facilitator.as_ref();
        let (resource, extensions) = (&self.resource, &self.extensions);
        let measure = Measure { terms, facilitator, resource, extensions };
        let promise = measure.hold(&credential)?;
        let keys = self.keys(&credential).all();
        Ok(authorization(credential, &promise, keys))
    }

    async fn verify(&self, authorization: &Authorization) -> Result<(), Rejection> {
        let promise = Promise::read(&authorization.credential);
        let promise = promise.map_err(|_| Rejection::Unavailable)?;
        self.facilitator.verify(&promise, signer(&promise)).await
    }

    async fn prepare(
        &self,
        authorization: &Authorization,
        charge: Usdc,
        earlier: Option<&Preparation>,
    ) -> Result<Preparation, Rejection> {
        let promise = Promise::read(&authorization.credential);
        let promise = promise.map_err(|_| Rejection::Unavailable)?;
        // Nothing at all would be settled without a transaction and leave the
        // promise unspent; more than promised would be refused by the chain.
        if charge.atomic() == 0 || charge > promise.most {
            let reason = "invalid_upto_evm_payload_settlement_exceeds_amount";
            return Err(Rejection::Invalid(receipt::failure(&promise, reason)));
        }
        let prepared = self.facilitator.prepare(&promise, charge, earlier).await;
        prepared.map_err(|why| match why {
            Rejection::Invalid(reason) => Rejection::Invalid(receipt::failure(&promise, &reason)),
            Rejection::PayeeChanged | Rejection::AllowanceMissing | Rejection::Unavailable => why,
        })
    }

    async fn settle(&self, payment: &Payment) -> Result<Settlement, Unsettled> {
        let promise = kept(payment)?;
        let moved = self.facilitator.settle(due(&promise, payment)).await;
        moved.map(|moved| receipt::settlement(&promise, payment.charge, moved)).map_err(|why| {
            match why {
                Unsettled::Refused(reason) => {
                    Unsettled::Refused(receipt::failure(&promise, &reason))
                }
                Unsettled::Withdrawn(_) | Unsettled::Lost(_) => why,
            }
        })
    }

    async fn trace(&self, payment: &Payment, told: Option<&str>) -> Result<Trace, Failure> {
        let promise = kept(payment)?;
        Ok(match self.facilitator.trace(due(&promise, payment), told).await? {
            Movement::Moved(moved) => {
                Trace::Moved(receipt::settlement(&promise, payment.charge, moved))
            }
            Movement::Open => Trace::Open,
            Movement::Void => Trace::Void,
        })
    }
}

fn nonce_key(promise: &Promise) -> PaymentKey {
    PaymentKey::of_nonce(Instrument::Permit2, promise.network, promise.payer, promise.nonce)
}

fn authorization(
    credential: Credential,
    promise: &Promise,
    keys: Vec<PaymentKey>,
) -> Authorization {
    let Promise { network, payer, pay_to, most, deadline, .. } = *promise;
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

/// The promise behind a payment that was asked for. It read when it was
/// verified; should it not read any more, nothing is known about its money.
fn kept(payment: &Payment) -> Result<Promise, Failure> {
    Promise::read(&payment.authorization.credential)
        .map_err(|_| Failure::Lost("the kept credential does not read".into()))
}

fn due<'a>(promise: &'a Promise, payment: &'a Payment) -> Due<'a> {
    Due { promise, charge: payment.charge, preparation: &payment.preparation }
}
