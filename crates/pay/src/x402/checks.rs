//! Everything about a credential that can be told without asking anybody.

use order::model::chain::{EvmAddress, Network};
use order::model::payment::{Credential, Terms};
use order::tender::Rejection;
use serde_json::Value;

use super::challenge::{SCHEME, TIMEOUT_SECONDS, TRANSFER_METHOD};
use super::credential::{Claim, Permit, PermitClaim, Promise, payload};
use super::extensions::Extensions;
use super::facilitator::{Carrier, Facilitator, Signer};
use super::resource::{Repeated, Resource};
use super::signature::{KEY_SIGNATURE_BYTES_MAX, permit_digest, promise_digest};
use super::{PERMIT2, UPTO_PROXY, flaw};
use crate::digits::address;
use crate::eip712::{TOKEN_NAME, TOKEN_VERSION, recover};

/// What must be left of a promise: we still have to ask the chain, the provider
/// and the chain again before it is spent.
const MARGIN_SECONDS: u64 = 60;
/// As long as an offer lives. Until its deadline an unanswered settlement is in
/// doubt and its order locked, so a promise for ever would lock it for ever.
/// Official clients sign for ten minutes; the rest forgives clocks.
const HORIZON_SECONDS: u64 = 24 * 60 * 60;

const NO_MATCH: &str = "No matching payment requirements";

/// What a credential is held against.
pub(super) struct Measure<'a> {
    pub(super) terms: &'a Terms,
    pub(super) facilitator: &'a dyn Facilitator,
    pub(super) resource: &'a Resource,
    pub(super) extensions: &'a Extensions,
}

impl Measure<'_> {
    /// The promise in a credential, if it pays these terms. Cheap checks come
    /// first, and nobody outside is asked.
    pub(super) fn hold(&self, credential: &Credential) -> Result<Promise, Rejection> {
        let payload = payload(credential)?;
        let accepted = accepted(&payload, self.terms).ok_or_else(|| flaw(NO_MATCH))?;
        let Accepted { network, pay_to } = accepted;
        if self.resource.is_repeated(&payload["resource"]) == Repeated::Otherwise {
            return Err(flaw("invalid_payload: /resource is not the one of the challenge"));
        }
        self.extensions.check(&payload)?;
        let claim = Claim::read(payload, network)?;
        self.weigh(&claim, pay_to)?;
        signed(&claim.promise)?;
        if let (Some(permit), Some(said)) = (&claim.promise.permit, &claim.permit) {
            self.weigh_permit(&claim.promise, permit, said)?;
        }
        if self.terms.payees.on(network) != Some(pay_to) {
            return Err(Rejection::PayeeChanged);
        }
        Ok(claim.promise)
    }

    fn weigh(&self, claim: &Claim, pay_to: EvmAddress) -> Result<(), Rejection> {
        let (promise, now) = (&claim.promise, self.terms.now);
        let asked = &promise.payload["accepted"]["extra"]["facilitatorAddress"];
        let carrier = self.facilitator.carrier(promise.network, promise.facilitator);
        // As long as nobody has said who carries, as after a start, ours cannot be told
        // from strangers: that is our trouble, and no reason to sign again.
        if carrier == Carrier::Unknown && self.facilitator.service(promise.network).is_none() {
            return Err(Rejection::Unavailable);
        }
        first_flaw(&[
            (claim.spender == UPTO_PROXY, "invalid_permit2_spender"),
            (promise.pay_to == pay_to, "invalid_permit2_recipient_mismatch"),
            (is(asked, promise.facilitator), "upto_facilitator_mismatch"),
            (carrier == Carrier::Ours, "upto_facilitator_mismatch"),
            (claim.token == promise.network.usdc(), "permit2_token_mismatch"),
            (promise.most == self.terms.ceiling, "permit2_amount_mismatch"),
            (promise.deadline >= now.plus(MARGIN_SECONDS).0, "permit2_deadline_expired"),
            (
                promise.deadline <= now.plus(HORIZON_SECONDS).0,
                "invalid_payload: the deadline is more than a day ahead",
            ),
            (promise.valid_after <= now.0, "permit2_not_yet_valid"),
        ])
    }

    fn weigh_permit(
        &self,
        promise: &Promise,
        permit: &Permit,
        said: &PermitClaim,
    ) -> Result<(), Rejection> {
        let Promise { network, payer, .. } = *promise;
        first_flaw(&[
            (said.owner == payer, "eip2612_from_mismatch"),
            (said.asset == network.usdc(), "eip2612_asset_mismatch"),
            (said.spender == PERMIT2, "eip2612_spender_not_permit2"),
            (permit.amount == promise.most, "permit2_2612_amount_mismatch"),
            (permit.deadline >= self.terms.now.plus(MARGIN_SECONDS).0, "eip2612_deadline_expired"),
        ])?;
        match signer(promise) {
            // Its contract knows; ask it together with the promise.
            Signer::Undecided => Ok(()),
            Signer::Key => {
                let digest =
                    permit_digest(network, payer, permit.amount, said.nonce, permit.deadline);
                let signed = recover(digest, &permit.signature) == Some(payer);
                first_flaw(&[(signed, "invalid_eip2612_signature")])
            }
        }
    }
}

/// The network that the payer chose, and whom it was asked to pay there: the seller's
/// account when the challenge was made, which may have changed since.
struct Accepted {
    network: Network,
    pay_to: EvmAddress,
}

/// What the payer chose, if it is an entry that we offer for these terms. Extra members are
/// not read.
fn accepted(payload: &Value, terms: &Terms) -> Option<Accepted> {
    let accepted = &payload["accepted"];
    let network = accepted["network"].as_str().and_then(Network::from_caip2)?;
    let pay_to = accepted["payTo"].as_str().and_then(address)?;
    let (extra, amount) = (&accepted["extra"], terms.ceiling.atomic().to_string());
    let same = accepted["scheme"] == SCHEME
        && accepted["amount"] == amount
        && is(&accepted["asset"], network.usdc())
        && accepted["maxTimeoutSeconds"] == TIMEOUT_SECONDS
        && extra["name"] == TOKEN_NAME
        && extra["version"] == TOKEN_VERSION
        && extra["assetTransferMethod"] == TRANSFER_METHOD
        && extra["facilitatorAddress"].is_string();
    same.then_some(Accepted { network, pay_to })
}

/// Whose signature it is, if the promise holds. One as long as a key's must be the
/// payer's key's. What is longer may be a contract's, and only the chain can ask the
/// contract.
pub(super) fn signer(promise: &Promise) -> Signer {
    if promise.signature.len() > KEY_SIGNATURE_BYTES_MAX { Signer::Undecided } else { Signer::Key }
}

fn signed(promise: &Promise) -> Result<(), Rejection> {
    match signer(promise) {
        Signer::Undecided => Ok(()),
        Signer::Key => {
            let payer = recover(promise_digest(promise), &promise.signature);
            first_flaw(&[(payer == Some(promise.payer), "invalid_permit2_signature")])
        }
    }
}

fn is(text: &Value, expected: EvmAddress) -> bool {
    text.as_str().and_then(address) == Some(expected)
}

fn first_flaw(checks: &[(bool, &str)]) -> Result<(), Rejection> {
    match checks.iter().find(|(holds, _)| !holds) {
        Some((_, reason)) => Err(flaw(reason)),
        None => Ok(()),
    }
}
