//! What a payer is asked for: `WWW-Authenticate: Payment`, bound to one body and one moment.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use order::chain::EvmAddress;
use order::ids::Timestamp;
use order::money::Usdc;
use order::offer::Offer;
use sha2::{Digest, Sha256};

use super::binding::{Parts, Realm, Secrets};
use super::facilitator::{Facilitator, Service};
use super::{INTENT, METHOD, NETWORK, SCHEME, moment};

/// How long a challenge can be answered. Clients let their transfers end with it, so it
/// has to cover checking one, asking the provider, and settling on a busy chain.
pub const TIMEOUT_SECONDS: u64 = 600;

/// For people. Plain letters: it stands in a header.
pub(super) const DESCRIPTION: &str = "One 4x6 postcard";

/// The one kind of credential that the released clients make.
pub(super) const CREDENTIAL_TYPE: &str = "authorization";

/// Sixteen bytes that nobody can foresee, or nothing if there are none to be had.
pub type Randomness = dyn Fn() -> Option<[u8; 16]> + Send + Sync;

/// A challenge, ready to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Challenge {
    pub(super) id: String,
    pub(super) pay_to: EvmAddress,
    /// The value of `WWW-Authenticate`.
    pub(super) header: String,
}

/// What challenges are made of.
pub(super) struct Press<'a> {
    pub(super) facilitator: &'a dyn Facilitator,
    pub(super) realm: &'a Realm,
    pub(super) secrets: &'a Secrets,
    pub(super) randomness: &'a Randomness,
}

impl Press<'_> {
    /// Asks for an offer to be paid. None if nobody would carry the money, the seller
    /// has no address here, or there is nothing to tell two challenges apart by.
    ///
    /// The id is a function of the rest, and the payer's nonce one of the id. So without
    /// randomness two payers, or one payer twice, would sign the same nonce.
    pub(super) fn challenge(
        &self,
        offer: &Offer,
        body: &[u8],
        now: Timestamp,
    ) -> Option<Challenge> {
        let pay_to = offer.payees.on(NETWORK)?;
        match self.facilitator.service(NETWORK) {
            Service::Offered => {}
            Service::NotOffered => return None,
        }
        let request = request(offer.price.ceiling(), pay_to);
        let expires = moment::written(now.plus(TIMEOUT_SECONDS));
        let digest = digest(body);
        let opaque = opaque((self.randomness)()?);
        let realm = self.realm.as_str();
        let id = self.secrets.id(&Parts {
            realm,
            method: METHOD,
            intent: INTENT,
            request: &request,
            expires: &expires,
            digest: &digest,
            opaque: &opaque,
        });
        // Nothing in it needs to be escaped: a realm has no quotation marks, and the
        // rest is ours.
        let header = format!(
            r#"{SCHEME} id="{id}", realm="{realm}", method="{METHOD}", intent="{INTENT}", request="{request}", description="{DESCRIPTION}", expires="{expires}", digest="{digest}", opaque="{opaque}""#
        );
        Some(Challenge { id, pay_to, header })
    }
}

/// The terms as they stand in a challenge. Canonical JSON (RFC 8785) to the last byte:
/// clients read it and write it anew, and what they send back must be what was bound.
pub(super) fn request(amount: Usdc, pay_to: EvmAddress) -> String {
    let (amount, token, chain) = (amount.atomic(), NETWORK.usdc(), NETWORK.chain_id());
    let json = format!(
        r#"{{"amount":"{amount}","currency":"{token}","methodDetails":{{"chainId":{chain},"credentialTypes":["{CREDENTIAL_TYPE}"],"decimals":6}},"recipient":"{pay_to}"}}"#
    );
    URL_SAFE_NO_PAD.encode(json)
}

/// A body's digest, as RFC 9530 writes it.
pub(super) fn digest(body: &[u8]) -> String {
    format!("sha-256=:{}:", STANDARD.encode(Sha256::digest(body)))
}

fn opaque(randomness: [u8; 16]) -> String {
    let nonce = URL_SAFE_NO_PAD.encode(randomness);
    URL_SAFE_NO_PAD.encode(format!(r#"{{"nonce":"{nonce}"}}"#))
}

#[cfg(test)]
mod tests;
