//! Everything about a credential that can be told without asking anybody, in the sequence
//! in which it costs more and more.

use order::model::chain::EvmAddress;
use order::model::ids::Timestamp;
use order::model::payment::{Credential, Terms};
use order::tender::Rejection;
use serde_json::Value;

use super::binding::{Bound, Realm, Secrets};
use super::challenge::{CREDENTIAL_TYPE, description, request};
use super::credential::{Authorization, Payment, Proof};
use super::problem::Flaw;
use super::signature::{Signed, nonces, signed_by};
use super::{INTENT, METHOD, NETWORK, exact};
use crate::digits::address;
use crate::mode::Mode;
use crate::x402::resource::Resource;

/// What must be left of a transfer: we still have to ask the chain, the provider and the
/// chain again before it is carried, and the token takes none in its last second.
const MARGIN_SECONDS: u64 = 60;
/// Until a transfer ends, an unanswered settlement is in doubt and its order locked.
/// Official clients end theirs with the challenge; the rest forgives clocks.
const HORIZON_SECONDS: u64 = 60 * 60;

const SOURCE: &str = "did:pkh:";

/// What a credential is held against.
pub(super) struct Measure<'a> {
    pub(super) terms: &'a Terms,
    pub(super) realm: &'a Realm,
    pub(super) secrets: &'a Secrets,
    pub(super) resource: &'a Resource,
    pub(super) mode: Mode,
}

impl Measure<'_> {
    /// The transfer in a credential, if it pays these terms. Nobody outside is asked.
    pub(super) fn hold(&self, credential: &Credential) -> Result<Held, Rejection> {
        let proof = Proof::open(credential)?;
        let payee = self.terms.payees.on(NETWORK);
        let pay_to = self.payee_asked_for(&proof).or(payee).ok_or(Rejection::Unavailable)?;
        let authorization = match &proof {
            Proof::Payment(payment) => {
                self.answers(payment, pay_to)?;
                offered_type(&payment.whole)?;
                let authorization = proof.authorization()?;
                self.weigh(&authorization, pay_to)?;
                let nonces = nonces(&payment.challenge.id, self.realm.as_str());
                let bound = nonces.contains(&authorization.nonce);
                first_flaw(&[(bound, "The nonce is not this challenge's.")])?;
                authorization
            }
            Proof::Exact(payload) => {
                exact::accepts(payload, self.terms.ceiling, pay_to, self.resource)?;
                let authorization = proof.authorization()?;
                self.weigh(&authorization, pay_to)?;
                authorization
            }
        };
        let signed = signed_by(&authorization) == Signed::ByPayer;
        first_flaw(&[(signed, "The signature is not one of the payer's own key, with a low s.")])?;
        if let Proof::Payment(payment) = &proof {
            named(&payment.whole["source"], authorization.from)?;
        }
        if Some(pay_to) != payee {
            return Err(Rejection::PayeeChanged);
        }
        Ok(Held { proof, authorization })
    }

    /// Whom the payer was asked to pay, and signed to pay: the seller's account when the
    /// challenge was made, which may have changed since.
    fn payee_asked_for(&self, proof: &Proof) -> Option<EvmAddress> {
        let to = proof.authorization().ok()?.to;
        let is_asked_for = match proof {
            Proof::Payment(payment) => payment.challenge.request == request(self.terms.ceiling, to),
            Proof::Exact(payload) => {
                payload["accepted"]["payTo"].as_str().and_then(address) == Some(to)
            }
        };
        is_asked_for.then_some(to)
    }

    /// Whether it answers a challenge of ours that is still open, for this very body. That
    /// we made it says only that its terms were right once, somewhere.
    fn answers(&self, payment: &Payment, pay_to: EvmAddress) -> Result<(), Rejection> {
        let echo = &payment.challenge;
        let flaw = |reason| Err(Flaw::Challenge.because(reason));
        match self.secrets.bound(&echo.id, &echo.parts()) {
            Bound::ByUs => {}
            Bound::NotByUs => return flaw("The challenge is not one of ours, or was changed."),
        }
        let place = echo.realm == self.realm.as_str();
        let described = echo.description.is_empty() || echo.description == description(self.mode);
        if !(place && echo.method == METHOD && echo.intent == INTENT && described) {
            return flaw("The challenge was made for another place.");
        }
        if echo.request != request(self.terms.ceiling, pay_to) {
            return flaw("The challenge asks for other terms than a card has now.");
        }
        let Ok(expires) = echo.expires.parse::<Timestamp>() else {
            return flaw("The challenge does not say when it expires.");
        };
        if expires <= self.terms.now {
            return Err(Flaw::Expired.because("The challenge has expired."));
        }
        if echo.digest != payment.content {
            return flaw("The challenge was made for another body. Send the identical one.");
        }
        Ok(())
    }

    fn weigh(&self, authorization: &Authorization, pay_to: EvmAddress) -> Result<(), Rejection> {
        let Authorization { to, value, valid_after, valid_before, .. } = *authorization;
        let now = self.terms.now;
        first_flaw(&[
            (to == pay_to, "The transfer goes to another account than the challenge names."),
            (value == self.terms.ceiling, "The transfer moves another amount than was asked."),
            (valid_after < now.0, "The transfer is not valid yet."),
            (
                valid_before > now.plus(MARGIN_SECONDS).0,
                "The transfer ends too soon to be carried, or has ended.",
            ),
            (
                valid_before <= now.plus(HORIZON_SECONDS).0,
                "The transfer is valid for more than an hour. Let it end with the challenge.",
            ),
        ])
    }
}

/// A credential that holds.
pub(super) struct Held {
    pub(super) proof: Proof,
    pub(super) authorization: Authorization,
}

fn first_flaw(checks: &[(bool, &str)]) -> Result<(), Rejection> {
    match checks.iter().find(|(holds, _)| !holds) {
        Some((_, reason)) => Err(Flaw::Unverified.because(reason)),
        None => Ok(()),
    }
}

/// The challenge offers one type of credential. The others pay in ways that bind nothing
/// to it, or that the draft leaves open.
fn offered_type(whole: &Value) -> Result<(), Rejection> {
    if whole["payload"]["type"] == CREDENTIAL_TYPE {
        return Ok(());
    }
    Err(Flaw::Malformed.because("The payload's type is not authorization, which alone is offered."))
}

/// A payer may say who pays, and then has to say the truth.
fn named(source: &Value, payer: EvmAddress) -> Result<(), Rejection> {
    let account = |source: &str| {
        let place = source.strip_prefix(SOURCE)?.strip_prefix(NETWORK.caip2())?;
        address(place.strip_prefix(':')?)
    };
    let true_name = source.is_null() || source.as_str().and_then(account) == Some(payer);
    first_flaw(&[(true_name, "The source is not the account that signed, on this network.")])
}
