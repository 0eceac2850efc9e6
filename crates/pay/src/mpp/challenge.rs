//! What a payer is asked for: `WWW-Authenticate: Payment`, bound to one body and one moment.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use http::{HeaderValue, StatusCode};
use order::model::chain::EvmAddress;
use order::model::ids::{OrderId, Timestamp};
use order::model::money::Usdc;
use order::model::offer::Offer;
use sha2::{Digest, Sha256};

use super::binding::{Begun, ID_LETTERS, Parts, Realm, Secrets};
use super::facilitator::{Facilitator, Service};
use super::problem::Problem;
use super::{INTENT, METHOD, NETWORK, SCHEME, exact};
use crate::form::Form;
use crate::mode::Mode;
use crate::x402::resource::Resource;

/// How long a challenge can be answered. Clients let their transfers end with it, so it
/// has to cover checking one, asking the provider, and settling on a busy chain.
pub const TIMEOUT_SECONDS: u64 = 600;

pub(super) const UNPAID: &str = "One 4x6 postcard costs 3.50 USDC on Base. Answer the challenge in \
     WWW-Authenticate with a client for MPP, and send the identical body again with the result in \
     Authorization.";
/// What x402's clients read in its place.
const UNPAID_EXACT: &str = "Payment required";

/// For people. Plain letters: it stands in a header, and nothing is bound to it.
pub(super) const fn description(mode: Mode) -> &'static str {
    match mode {
        Mode::Live => "One 4x6 postcard",
        Mode::Sandbox => "One 4x6 postcard (sandbox: not real money)",
    }
}

/// Where a challenge's own words stand in its header. No realm has a backslash, and
/// nothing else of it either.
const MARKS: [&str; 4] = [r"\id", r"\expires", r"\digest", r"\opaque"];

/// About as long as each of these is, so that its text need not grow.
const DIGEST_BYTES: usize = 64;
const OPAQUE_BYTES: usize = 40;

/// The one kind of credential that the released clients make.
pub(super) const CREDENTIAL_TYPE: &str = "authorization";

/// Sixteen bytes that nobody can foresee, or nothing if there are none to be had.
pub type Randomness = dyn Fn() -> Option<[u8; 16]> + Send + Sync;

/// A challenge, ready to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Challenge {
    pub(super) id: String,
    /// The value of `WWW-Authenticate`.
    pub(super) header: HeaderValue,
}

/// What all challenges for the same money share: everything but what binds one to its
/// request and its moment.
pub(super) struct Money {
    amount: Usdc,
    pay_to: EvmAddress,
    /// The terms, as they stand in the challenge.
    request: String,
    /// The value of `WWW-Authenticate`, with gaps for what is a challenge's own.
    header: Form,
    /// The ids of all challenges with these terms.
    begun: OnceLock<Begun>,
    /// The value of `PAYMENT-REQUIRED` for those who bring no payment.
    pub(super) required: HeaderValue,
    /// What they are told beside it.
    pub(super) body: Form,
    mode: Mode,
}

/// What all challenges of one endpoint share.
#[derive(Clone, Copy)]
pub(super) struct Sold<'a> {
    pub(super) realm: &'a Realm,
    pub(super) resource: &'a Resource,
    pub(super) mode: Mode,
}

impl Money {
    fn of(amount: Usdc, pay_to: EvmAddress, sold: Sold<'_>) -> Option<Self> {
        let Sold { realm, resource, mode } = sold;
        let required = exact::required(amount, pay_to, resource, mode, UNPAID_EXACT);
        let request = request(amount, pay_to);
        Some(Self {
            amount,
            pay_to,
            header: header(realm, &request, mode),
            request,
            begun: OnceLock::new(),
            required: HeaderValue::try_from(required).ok()?,
            body: body(mode),
            mode,
        })
    }

    /// The value of `PAYMENT-REQUIRED` for those whose payment does not do.
    pub(super) fn required_because(&self, reason: &str, resource: &Resource) -> String {
        exact::required(self.amount, self.pay_to, resource, self.mode, reason)
    }
}

/// A challenge as it stands in its header. Nothing in it needs to be escaped: a realm has
/// no quotation marks, and the rest is ours.
fn header(realm: &Realm, request: &str, mode: Mode) -> Form {
    let [id, expires, digest, opaque] = MARKS;
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
    Form::of(&format!("{SCHEME} {}", parameters.join(", ")), &MARKS)
}

/// The problem of those who bring no payment, with gaps for the order's id and the
/// challenge's.
fn body(mode: Mode) -> Form {
    let order = OrderId::from_bytes([0; 16]);
    let id = "-".repeat(ID_LETTERS);
    let problem = Problem::unpaid(StatusCode::PAYMENT_REQUIRED, UNPAID);
    let text = problem.about(order).in_mode(mode).challenged(&id).json().to_string();
    Form::of(&text, &[&order.to_string(), &id])
}

/// What was asked for last. The next one is asked for the same, unless by another seller.
#[derive(Default)]
pub(super) struct Usual(Mutex<Option<Arc<Money>>>);

impl Usual {
    pub(super) fn money(&self, offer: &Offer, sold: Sold<'_>) -> Option<Arc<Money>> {
        let (amount, pay_to) = (offer.price.ceiling(), offer.payees.on(NETWORK)?);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(money) = &*kept
            && (money.amount, money.pay_to) == (amount, pay_to)
        {
            return Some(money.clone());
        }
        let money = Arc::new(Money::of(amount, pay_to, sold)?);
        *kept = Some(money.clone());
        Some(money)
    }
}

/// What challenges are made of.
pub(super) struct Press<'a> {
    pub(super) facilitator: &'a dyn Facilitator,
    pub(super) realm: &'a Realm,
    pub(super) secrets: &'a Secrets,
    pub(super) randomness: &'a Randomness,
}

impl Press<'_> {
    /// Asks for money. None if nobody would carry it, or there is nothing to tell two
    /// challenges apart by.
    ///
    /// The id is a function of the rest, and the payer's nonce one of the id. So without
    /// randomness two payers, or one payer twice, would sign the same nonce.
    pub(super) fn challenge(
        &self,
        money: &Money,
        body: &[u8],
        now: Timestamp,
    ) -> Option<Challenge> {
        match self.facilitator.service(NETWORK) {
            Service::Offered => {}
            Service::NotOffered => return None,
        }
        let expires = now.plus(TIMEOUT_SECONDS).to_string();
        let digest = digest(body);
        let opaque = opaque((self.randomness)()?);
        let parts = Parts {
            realm: self.realm.as_str(),
            method: METHOD,
            intent: INTENT,
            request: &money.request,
            expires: &expires,
            digest: &digest,
            opaque: &opaque,
        };
        let id = money.begun.get_or_init(|| self.secrets.begin(&parts)).id(&parts);
        let header = money.header.fill(&[&id, &expires, &digest, &opaque]);
        Some(Challenge { id, header: HeaderValue::try_from(header).ok()? })
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
    let mut digest = String::with_capacity(DIGEST_BYTES);
    digest.push_str("sha-256=:");
    STANDARD.encode_string(Sha256::digest(body), &mut digest);
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
