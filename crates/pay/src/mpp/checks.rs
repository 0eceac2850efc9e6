//! The checks of an MPP credential that need no network, the cheap ones first.

use order::model::chain::EvmAddress;
use order::model::ids::Timestamp;
use order::model::payment::Terms;
use order::tender::Rejection;
use serde_json::Value;

use super::challenge::{CREDENTIAL_TYPE, description, request};
use super::challenge_id::{ChallengeOrigin, ChallengeSecrets, Realm};
use super::credential::{
    NOT_A_KEYS_SIGNATURE, ParsedCredential, Payment, PaymentProof, TransferAuthorization,
};
use super::problem::CredentialProblem;
use super::signature::{Signed, nonces, signed_by};
use super::{INTENT, METHOD, NETWORK, x402_exact};
use crate::mode::PaymentMode;
use crate::parse::address;
use crate::x402::resource::Resource;

/// How long a transfer must still be valid: before it is broadcast, the chain, the provider and
/// the chain again have to answer, and the token accepts none in its last second.
const MARGIN_SECONDS: u64 = 60;
/// How long a transfer may be valid. Until it expires, an unconfirmed settlement is in doubt and
/// its order is locked. The transfers of official clients expire with the challenge; the rest
/// allows for clocks that differ.
const HORIZON_SECONDS: u64 = 60 * 60;

/// The prefix of the optional member `source`.
const SOURCE: &str = "did:pkh:";

/// What a credential is checked against.
pub(super) struct CredentialCheck<'a> {
    pub(super) terms: &'a Terms,
    pub(super) realm: &'a Realm,
    pub(super) secrets: &'a ChallengeSecrets,
    pub(super) resource: &'a Resource,
    pub(super) mode: PaymentMode,
}

impl CredentialCheck<'_> {
    /// Returns the transfer of a credential that pays these terms.
    pub(super) fn run(&self, parsed: ParsedCredential) -> Result<ParsedPayment, Rejection> {
        let payee = self.terms.payees.on(NETWORK);
        let signed_payee = self.signed_payee(&parsed);
        let ParsedCredential { proof, authorization } = parsed;
        let pay_to = signed_payee.or(payee).ok_or(Rejection::Unavailable)?;
        let authorization = match &proof {
            PaymentProof::Payment(payment) => {
                self.check_challenge(payment, pay_to)?;
                offered_type(&payment.whole)?;
                let authorization = authorization?;
                self.check_authorization(&authorization, pay_to)?;
                let nonces = nonces(&payment.challenge.id, self.realm.as_str());
                let bound = nonces.contains(&authorization.nonce);
                first_failure(&[(bound, "The nonce is not the one of this challenge.")])?;
                authorization
            }
            PaymentProof::Exact(payload) => {
                x402_exact::accepts(payload, self.terms.ceiling, pay_to, self.resource)?;
                let authorization = authorization?;
                self.check_authorization(&authorization, pay_to)?;
                authorization
            }
        };
        let signed = signed_by(&authorization) == Signed::ByPayer;
        // mutant: unsigned-mpp
        first_failure(&[(signed, NOT_A_KEYS_SIGNATURE)])?;
        if let PaymentProof::Payment(payment) = &proof {
            check_source(&payment.whole["source"], authorization.from)?;
        }
        if Some(pay_to) != payee {
            return Err(Rejection::PayeeChanged);
        }
        Ok(ParsedPayment { proof, authorization })
    }

    /// The address that both the challenge and the transfer name: the seller's when the
    /// challenge was made, which may have changed since.
    fn signed_payee(&self, parsed: &ParsedCredential) -> Option<EvmAddress> {
        let to = parsed.authorization.as_ref().ok()?.to;
        let is_asked_for = match &parsed.proof {
            PaymentProof::Payment(payment) => {
                payment.challenge.request == request(self.terms.ceiling, to)
            }
            PaymentProof::Exact(payload) => {
                payload["accepted"]["payTo"].as_str().and_then(address) == Some(to)
            }
        };
        is_asked_for.then_some(to)
    }

    /// Checks that it answers a challenge of ours that has not expired, for this body. That the
    /// challenge is ours proves only that its terms were right for some request at some time.
    fn check_challenge(&self, payment: &Payment, pay_to: EvmAddress) -> Result<(), Rejection> {
        let echo = &payment.challenge;
        let invalid = |reason| Err(CredentialProblem::InvalidChallenge.rejection(reason));
        match self.secrets.origin(&echo.id, &echo.parameters()) {
            ChallengeOrigin::Ours => {}
            ChallengeOrigin::Foreign => {
                return invalid("The challenge is not one of ours, or was changed.");
            }
        }
        let place = echo.realm == self.realm.as_str();
        let described = echo.description.is_empty() || echo.description == description(self.mode);
        if !(place && echo.method == METHOD && echo.intent == INTENT && described) {
            return invalid("The challenge has another realm, method, intent or description.");
        }
        if echo.request != request(self.terms.ceiling, pay_to) {
            return invalid("The challenge has other terms than a card has now.");
        }
        let Ok(expires) = echo.expires.parse::<Timestamp>() else {
            return invalid("The challenge has no valid expires.");
        };
        if expires <= self.terms.now {
            return Err(CredentialProblem::PaymentExpired.rejection("The challenge has expired."));
        }
        if echo.digest != payment.content {
            return invalid("The challenge was made for another body. Send the identical one.");
        }
        Ok(())
    }

    fn check_authorization(
        &self,
        authorization: &TransferAuthorization,
        pay_to: EvmAddress,
    ) -> Result<(), Rejection> {
        let TransferAuthorization { to, value, valid_after, valid_before, .. } = *authorization;
        let now = self.terms.now;
        first_failure(&[
            (to == pay_to, "The transfer goes to another account than the challenge names."),
            (value == self.terms.ceiling, "The transfer has another amount than the challenge."),
            (valid_after < now.0, "The transfer is not valid yet."),
            (
                valid_before > now.plus(MARGIN_SECONDS).0,
                "The transfer expires too soon to be settled, or has expired.",
            ),
            (
                valid_before <= now.plus(HORIZON_SECONDS).0,
                "The transfer is valid for more than an hour. Let it expire with the challenge.",
            ),
        ])
    }
}

/// A parsed credential.
pub(super) struct ParsedPayment {
    pub(super) proof: PaymentProof,
    pub(super) authorization: TransferAuthorization,
}

fn first_failure(checks: &[(bool, &str)]) -> Result<(), Rejection> {
    match checks.iter().find(|(holds, _)| !holds) {
        Some((_, reason)) => Err(CredentialProblem::VerificationFailed.rejection(reason)),
        None => Ok(()),
    }
}

/// The challenge offers one type of credential. The others are not bound to the challenge, or
/// not defined by the draft.
fn offered_type(whole: &Value) -> Result<(), Rejection> {
    if whole["payload"]["type"] == CREDENTIAL_TYPE {
        return Ok(());
    }
    Err(CredentialProblem::Malformed
        .rejection("The payload's type is not authorization, the only one offered."))
}

/// The optional member `source` must name the account that signed.
fn check_source(source: &Value, payer: EvmAddress) -> Result<(), Rejection> {
    let account = |source: &str| {
        let place = source.strip_prefix(SOURCE)?.strip_prefix(NETWORK.caip2())?;
        address(place.strip_prefix(':')?)
    };
    let is_payer = source.is_null() || source.as_str().and_then(account) == Some(payer);
    first_failure(&[(is_payer, "The source is not the account that signed on this network.")])
}
