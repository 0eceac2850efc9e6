//! The challenge of MPP: `WWW-Authenticate: Payment`, bound to one request body and one time.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::{HeaderValue, StatusCode};
use order::model::chain::EvmAddress;
use order::model::ids::{OrderId, Timestamp};
use order::model::money::Usdc;
use order::model::offer::Offer;
use ring::digest::{SHA256, digest as hash};

use super::challenge_id::{ChallengeParameters, ChallengeSecrets, ID_CHARACTERS, PartialId, Realm};
use super::problem::ProblemDocument;
use super::settler::{TransferSettler, TransferSupport};
use super::{INTENT, METHOD, NETWORK, SCHEME, TIMEOUT_SECONDS, x402_exact};
use crate::mode::PaymentMode;
use crate::template::Template;
use crate::x402::resource::Resource;

pub(super) const UNPAID: &str = "One 4x6 postcard costs 3.50 USDC on Base. Answer the challenge in \
     WWW-Authenticate with a client for MPP, and send the identical body again with the result in \
     Authorization.";
/// The same for clients that read the x402 header.
const UNPAID_EXACT: &str = "Payment required";

/// The `description` parameter, for people. ASCII, because it is part of a header. It is not
/// part of the challenge id.
pub(super) const fn description(mode: PaymentMode) -> &'static str {
    match mode {
        PaymentMode::Live => "One 4x6 postcard",
        PaymentMode::Sandbox => "One 4x6 postcard (sandbox: not real money)",
    }
}

/// The placeholders of a header. A realm has no backslash, and neither has the rest.
const PLACEHOLDERS: [&str; 4] = [r"\id", r"\expires", r"\digest", r"\opaque"];

/// About the length of each of these, so that the string need not grow.
const DIGEST_BYTES: usize = 64;
const OPAQUE_BYTES: usize = 40;

/// The only credential type that released clients make.
pub(super) const CREDENTIAL_TYPE: &str = "authorization";

/// Sixteen unpredictable bytes, or `None` if the source of randomness fails.
pub type RandomBytes = dyn Fn() -> Option<[u8; 16]> + Send + Sync;

/// A challenge that is ready to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Challenge {
    pub(super) id: String,
    /// The value of `WWW-Authenticate`.
    pub(super) header: HeaderValue,
}

/// What all challenges for the same amount and seller have in common.
pub(super) struct ChallengeTemplate {
    amount: Usdc,
    pay_to: EvmAddress,
    /// The `request` parameter.
    request: String,
    /// The value of `WWW-Authenticate`, with placeholders.
    header: Template,
    partial_id: OnceLock<PartialId>,
    /// The value of `PAYMENT-REQUIRED` for a request without a payment.
    pub(super) payment_required: HeaderValue,
    /// The body for a request without a payment.
    pub(super) body: Template,
    mode: PaymentMode,
}

/// What all challenges of an endpoint have in common.
#[derive(Clone, Copy)]
pub(super) struct EndpointDescription<'a> {
    pub(super) realm: &'a Realm,
    pub(super) resource: &'a Resource,
    pub(super) mode: PaymentMode,
}

impl ChallengeTemplate {
    fn new(amount: Usdc, pay_to: EvmAddress, endpoint: EndpointDescription<'_>) -> Self {
        let EndpointDescription { realm, resource, mode } = endpoint;
        let request = request(amount, pay_to);
        Self {
            amount,
            pay_to,
            header: header(realm, &request, mode),
            request,
            partial_id: OnceLock::new(),
            payment_required: x402_exact::required(amount, pay_to, resource, mode, UNPAID_EXACT),
            body: body(mode),
            mode,
        }
    }

    /// The value of `PAYMENT-REQUIRED` after a payment that was not accepted.
    pub(super) fn payment_required_because(
        &self,
        reason: &str,
        resource: &Resource,
    ) -> HeaderValue {
        x402_exact::required(self.amount, self.pay_to, resource, self.mode, reason)
    }
}

/// The value of `WWW-Authenticate`. No parameter needs escaping: a realm has no quotation marks,
/// and the rest is ours.
fn header(realm: &Realm, request: &str, mode: PaymentMode) -> Template {
    let [id, expires, digest, opaque] = PLACEHOLDERS;
    let parameters = [
        ("id", id),
        ("realm", realm.as_str()),
        ("method", METHOD),
        ("intent", INTENT),
        ("request", request),
        ("description", description(mode)),
        ("expires", expires),
        ("digest", digest),
        ("opaque", opaque),
    ];
    let parameters = parameters.map(|(name, value)| format!("{name}=\"{value}\""));
    Template::new(&format!("{SCHEME} {}", parameters.join(", ")), &PLACEHOLDERS)
}

/// The problem document for a request without a payment, with placeholders for the ids of the
/// order and of the challenge.
fn body(mode: PaymentMode) -> Template {
    let order = OrderId::from_bytes([0; 16]);
    let id = "-".repeat(ID_CHARACTERS);
    let problem = ProblemDocument::unpaid(StatusCode::PAYMENT_REQUIRED, UNPAID);
    let text = problem.about(order).in_mode(mode).with_challenge(&id).json().to_string();
    Template::new(&text, &[&order.to_string(), &id])
}

/// The last template. It serves every request until another seller is asked for.
#[derive(Default)]
pub(super) struct ChallengeCache(Mutex<Option<Arc<ChallengeTemplate>>>);

impl ChallengeCache {
    /// `None` if the seller has no address on the network.
    pub(super) fn template(
        &self,
        offer: &Offer,
        endpoint: EndpointDescription<'_>,
    ) -> Option<Arc<ChallengeTemplate>> {
        let (amount, pay_to) = (offer.price.ceiling(), offer.payees.on(NETWORK)?);
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(template) = &*cached
            && (template.amount, template.pay_to) == (amount, pay_to)
        {
            return Some(template.clone());
        }
        let template = Arc::new(ChallengeTemplate::new(amount, pay_to, endpoint));
        *cached = Some(template.clone());
        Some(template)
    }
}

/// Makes challenges from templates.
pub(super) struct ChallengeIssuer<'a> {
    pub(super) facilitator: &'a dyn TransferSettler,
    pub(super) realm: &'a Realm,
    pub(super) secrets: &'a ChallengeSecrets,
    pub(super) randomness: &'a RandomBytes,
}

impl ChallengeIssuer<'_> {
    /// A new challenge; `None` if payments are not supported now, or there is no randomness.
    ///
    /// The payer's nonce is a function of the id, and the id one of the other parameters. So
    /// without randomness two payers, or one payer twice, would sign the same nonce.
    pub(super) fn challenge(
        &self,
        template: &ChallengeTemplate,
        body: &[u8],
        now: Timestamp,
    ) -> Option<Challenge> {
        match self.facilitator.support(NETWORK) {
            TransferSupport::Offered => {}
            TransferSupport::NotOffered => return None,
        }
        let expires = now.plus(TIMEOUT_SECONDS).to_string();
        let digest = digest(body);
        let opaque = opaque((self.randomness)()?);
        let parameters = ChallengeParameters {
            realm: self.realm.as_str(),
            method: METHOD,
            intent: INTENT,
            request: &template.request,
            expires: &expires,
            digest: &digest,
            opaque: &opaque,
        };
        let partial_id = template.partial_id.get_or_init(|| self.secrets.partial_id(&parameters));
        let id = partial_id.complete(&parameters);
        let header = template.header.fill(&[&id, &expires, &digest, &opaque]);
        let header = HeaderValue::try_from(header).expect("a realm is printable ASCII");
        Some(Challenge { id, header })
    }
}

/// The `request` parameter. Canonical JSON (RFC 8785) to the last byte: clients parse it and
/// serialize it again, and must send back exactly what the id is made of.
pub(super) fn request(amount: Usdc, pay_to: EvmAddress) -> String {
    let (amount, token, chain) = (amount.atomic(), NETWORK.usdc(), NETWORK.chain_id());
    let json = format!(
        r#"{{"amount":"{amount}","currency":"{token}","methodDetails":{{"chainId":{chain},"credentialTypes":["{CREDENTIAL_TYPE}"],"decimals":6}},"recipient":"{pay_to}"}}"#
    );
    URL_SAFE_NO_PAD.encode(json)
}

/// The digest of a body in the format of RFC 9530.
pub(super) fn digest(body: &[u8]) -> String {
    let mut digest = String::with_capacity(DIGEST_BYTES);
    digest.push_str("sha-256=:");
    STANDARD.encode_string(hash(&SHA256, body), &mut digest);
    digest.push(':');
    digest
}

fn opaque(randomness: [u8; 16]) -> String {
    let mut json = String::with_capacity(OPAQUE_BYTES);
    json.push_str(r#"{"nonce":""#);
    URL_SAFE_NO_PAD.encode_string(randomness, &mut json);
    json.push_str(r#""}"#);
    URL_SAFE_NO_PAD.encode(json)
}

#[cfg(test)]
mod tests;
