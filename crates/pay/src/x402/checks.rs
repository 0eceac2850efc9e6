//! The checks of an x402 credential that need no network.

use evm::signature::erc6492;
use order::model::chain::{EvmAddress, Network};
use order::model::payment::Terms;
use order::tender::Rejection;
use serde_json::Value;

use super::challenge::{SCHEME, TIMEOUT_SECONDS, TRANSFER_METHOD};
use super::credential::{
    CredentialFields, Eip2612Permit, Payload, Permit2Authorization, PermitFields,
};
use super::extensions::Extensions;
use super::resource::{Resource, ResourceEcho};
use super::settler::{FacilitatorAddress, KnownAccount, Permit2Settler, SignatureKind};
use super::signature::{permit_digest, signature_kind};
use super::{PERMIT2, UPTO_PROXY, invalid};
use crate::eip712::{TOKEN_NAME, TOKEN_VERSION, recover};
use crate::parse::address;

/// How long an authorization must still be valid: before it is spent, the chain, the provider
/// and the chain again have to answer.
const MARGIN_SECONDS: u64 = 60;
/// How long an authorization may be valid. Until its deadline an unconfirmed settlement is in
/// doubt and its order is locked. Official clients sign for ten minutes; the rest allows for
/// clocks that differ.
const HORIZON_SECONDS: u64 = 24 * 60 * 60;

const NO_MATCH: &str = "No matching payment requirements";
const BAD_SIGNATURE: &str = "invalid_permit2_signature";

/// An authorization that pays the terms, and what can confirm its signature.
pub(super) struct SignedAuthorization {
    pub(super) authorization: Permit2Authorization,
    pub(super) signature: SignatureKind,
}

/// What a credential is checked against.
pub(super) struct CredentialCheck<'a> {
    pub(super) terms: &'a Terms,
    pub(super) settler: &'a dyn Permit2Settler,
    pub(super) resource: &'a Resource,
    pub(super) extensions: &'a Extensions,
}

impl CredentialCheck<'_> {
    /// Returns the authorization of a credential that pays these terms. Cheap checks come first.
    pub(super) fn run(&self, payload: Payload) -> Result<SignedAuthorization, Rejection> {
        let Payload { json, fields } = payload;
        let accepted = accepted(&json, self.terms).ok_or_else(|| invalid(NO_MATCH))?;
        let Accepted { network, pay_to } = accepted;
        if self.resource.compare_echo(&json["resource"]) == ResourceEcho::Different {
            return Err(invalid("invalid_payload: /resource is not the one of the challenge"));
        }
        self.extensions.check(&json)?;
        let parsed = fields?;
        self.check_authorization(&parsed, pay_to)?;
        let signature = self.check_signature(&parsed.authorization)?;
        if let (Some(permit), Some(fields)) = (&parsed.authorization.permit, &parsed.permit) {
            self.check_permit(&parsed.authorization, signature, permit, fields)?;
        }
        if self.terms.payees.on(network) != Some(pay_to) {
            return Err(Rejection::PayeeChanged);
        }
        Ok(SignedAuthorization { authorization: parsed.authorization, signature })
    }

    fn check_authorization(
        &self,
        parsed: &CredentialFields,
        pay_to: EvmAddress,
    ) -> Result<(), Rejection> {
        let (authorization, now) = (&parsed.authorization, self.terms.now);
        let accepted = &authorization.payload["accepted"]["extra"]["facilitatorAddress"];
        let facilitator =
            self.settler.classify_facilitator(authorization.network, authorization.facilitator);
        // Until the facilitator's list was read, for example after a start, its addresses are not
        // known. That is not the payer's mistake and no reason to sign again.
        if facilitator == FacilitatorAddress::Unknown
            && self.settler.support(authorization.network).is_none()
        {
            return Err(Rejection::Unavailable);
        }
        first_failure(&[
            (parsed.spender == UPTO_PROXY, "invalid_permit2_spender"),
            (authorization.pay_to == pay_to, "invalid_permit2_recipient_mismatch"),
            (is_address(accepted, authorization.facilitator), "upto_facilitator_mismatch"),
            (facilitator == FacilitatorAddress::Ours, "upto_facilitator_mismatch"),
            (parsed.token == authorization.network.usdc(), "permit2_token_mismatch"),
            (authorization.most == self.terms.ceiling, "permit2_amount_mismatch"),
            (authorization.deadline >= now.plus(MARGIN_SECONDS).0, "permit2_deadline_expired"),
            (
                authorization.deadline <= now.plus(HORIZON_SECONDS).0,
                "invalid_payload: the deadline is more than a day ahead",
            ),
            (authorization.valid_after <= now.0, "permit2_not_yet_valid"),
        ])
    }

    /// A signature that no key of the payer made is left to the code of the payer's account,
    /// unless the account is known to have none. One that says how the account is deployed is
    /// always left to it: the account may have been deployed since.
    fn check_signature(
        &self,
        authorization: &Permit2Authorization,
    ) -> Result<SignatureKind, Rejection> {
        let Permit2Authorization { network, payer, signature, .. } = authorization;
        let has_deployment = authorization.has_deployment();
        if has_deployment && erc6492::inner(signature).is_none() {
            return Err(invalid(BAD_SIGNATURE));
        }
        // mutant: unsigned-x402
        let signer = signature_kind(authorization);
        match (signer, self.settler.known_account(*network, *payer)) {
            (SignatureKind::Contract, KnownAccount::WithoutCode) if !has_deployment => {
                Err(invalid(BAD_SIGNATURE))
            }
            (
                SignatureKind::Key | SignatureKind::Contract,
                KnownAccount::WithoutCode | KnownAccount::Unknown,
            ) => Ok(signer),
        }
    }

    fn check_permit(
        &self,
        authorization: &Permit2Authorization,
        signature: SignatureKind,
        permit: &Eip2612Permit,
        fields: &PermitFields,
    ) -> Result<(), Rejection> {
        let Permit2Authorization { network, payer, .. } = *authorization;
        first_failure(&[
            (fields.owner == payer, "eip2612_from_mismatch"),
            (fields.asset == network.usdc(), "eip2612_asset_mismatch"),
            (fields.spender == PERMIT2, "eip2612_spender_not_permit2"),
            (permit.amount == authorization.most, "permit2_2612_amount_mismatch"),
            (permit.deadline >= self.terms.now.plus(MARGIN_SECONDS).0, "eip2612_deadline_expired"),
        ])?;
        match signature {
            // The contract checks it together with the authorization.
            SignatureKind::Contract => Ok(()),
            SignatureKind::Key => {
                let digest =
                    permit_digest(network, payer, permit.amount, fields.nonce, permit.deadline);
                let signed = recover(digest, &permit.signature) == Some(payer);
                first_failure(&[(signed, "invalid_eip2612_signature")])
            }
        }
    }
}

/// The network that the payer chose, and the seller's address there when the challenge was
/// made, which may have changed since.
struct Accepted {
    network: Network,
    pay_to: EvmAddress,
}

/// The requirement that the payer chose, if it is one of these terms. Other members are ignored.
fn accepted(payload: &Value, terms: &Terms) -> Option<Accepted> {
    let accepted = &payload["accepted"];
    let network = accepted["network"].as_str().and_then(Network::from_caip2)?;
    let pay_to = accepted["payTo"].as_str().and_then(address)?;
    let (extra, amount) = (&accepted["extra"], terms.ceiling.atomic().to_string());
    let same = accepted["scheme"] == SCHEME
        && accepted["amount"] == amount
        && is_address(&accepted["asset"], network.usdc())
        && accepted["maxTimeoutSeconds"] == TIMEOUT_SECONDS
        && extra["name"] == TOKEN_NAME
        && extra["version"] == TOKEN_VERSION
        && extra["assetTransferMethod"] == TRANSFER_METHOD
        && extra["facilitatorAddress"].is_string();
    same.then_some(Accepted { network, pay_to })
}

fn is_address(text: &Value, expected: EvmAddress) -> bool {
    text.as_str().and_then(address) == Some(expected)
}

fn first_failure(checks: &[(bool, &str)]) -> Result<(), Rejection> {
    match checks.iter().find(|(holds, _)| !holds) {
        Some((_, reason)) => Err(invalid(reason)),
        None => Ok(()),
    }
}
