//! The challenge of x402: `PAYMENT-REQUIRED`, with one payment requirement for each network.

use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use order::model::chain::{EvmAddress, Network};
use order::model::money::Usdc;
use order::model::offer::Offer;
use order::status::Status;
use serde::Serialize;
use serde_json::{Value, json};

use super::extensions::Extensions;
use super::resource::Resource;
use super::settler::{GasSponsoring, Permit2Settler, Permit2Support};
use super::{VERSION, allowance};
use crate::eip712::{TOKEN_NAME, TOKEN_VERSION};
use crate::mode::PaymentMode;
use crate::reason::shortened;
use crate::template::Template;

pub const SCHEME: &str = "upto";
/// How long a payer's authorization is valid. Covers the checks, the provider's quote and the
/// settlement on a busy chain.
pub const TIMEOUT_SECONDS: u64 = 600;
pub(super) const TRANSFER_METHOD: &str = "permit2";

/// The payment requirement of one network: an entry of `accepts`, and the
/// `paymentRequirements` of a facilitator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirement {
    pub network: Network,
    pub pay_to: EvmAddress,
    /// In a challenge the maximum, at settlement the charge.
    pub amount: Usdc,
    /// The only account that may broadcast the authorization.
    pub facilitator_address: EvmAddress,
}

impl Requirement {
    pub fn json(&self) -> Value {
        json!({
            "scheme": SCHEME,
            "network": self.network.caip2(),
            "amount": self.amount.atomic().to_string(),
            "asset": self.network.usdc().to_string(),
            "payTo": self.pay_to.to_string(),
            "maxTimeoutSeconds": TIMEOUT_SECONDS,
            "extra": {
                "name": TOKEN_NAME,
                "version": TOKEN_VERSION,
                "assetTransferMethod": TRANSFER_METHOD,
                "facilitatorAddress": self.facilitator_address.to_string(),
            },
        })
    }
}

/// A challenge that is ready to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Challenge {
    /// The JSON body, with a placeholder for the order id.
    pub(super) body: Template,
    /// The value of `PAYMENT-REQUIRED`. Padded standard base64, because official clients read
    /// no other.
    pub(super) header: HeaderValue,
    /// The missing allowance, if it is the reason of the challenge.
    pub(super) allowance: Option<Value>,
}

/// What the challenges of an endpoint differ in.
type Requirements = Vec<(Requirement, GasSponsoring)>;

/// One requirement for each network on which the seller has an address and payments are
/// supported.
fn requirements(offer: &Offer, settler: &dyn Permit2Settler) -> Requirements {
    let requirement = |(network, pay_to)| {
        let Permit2Support { facilitator, sponsoring } = settler.support(network)?;
        let (amount, facilitator_address) = (offer.price.ceiling(), facilitator);
        Some((Requirement { network, pay_to, amount, facilitator_address }, sponsoring))
    };
    offer.payees.iter().filter_map(requirement).collect()
}

/// The challenge for an offer; `None` if no network can be offered, because a payer must sign
/// for a facilitator.
pub(super) fn challenge(
    offer: &Offer,
    settler: &dyn Permit2Settler,
    endpoint: EndpointDescription<'_>,
    reason: &str,
) -> Option<Challenge> {
    write(&requirements(offer, settler), endpoint, reason)
}

/// What all challenges of an endpoint have in common.
#[derive(Clone, Copy)]
pub(super) struct EndpointDescription<'a> {
    pub(super) resource: &'a Resource,
    pub(super) extensions: &'a Extensions,
    pub(super) mode: PaymentMode,
}

fn write(
    requirements: &[(Requirement, GasSponsoring)],
    endpoint: EndpointDescription<'_>,
    reason: &str,
) -> Option<Challenge> {
    let EndpointDescription { resource, extensions, mode } = endpoint;
    let (first, _) = requirements.first()?;
    let sponsored =
        requirements.iter().any(|(_, sponsoring)| *sponsoring == GasSponsoring::Offered);
    let sponsoring = if sponsored { GasSponsoring::Offered } else { GasSponsoring::NotOffered };
    let accepts: Value = requirements.iter().map(|(one, _)| mode.mark(one.json())).collect();
    let networks: Vec<Network> = requirements.iter().map(|(one, _)| one.network).collect();
    let allowance = (reason == allowance::REQUIRED)
        .then(|| allowance::missing_call(&networks, first.amount, sponsoring));
    let allowance_member = allowance
        .clone()
        .map(|missing| format!(r#","allowance":{}"#, allowance::without_call_data(missing)));
    let json = format!(
        r#"{{"x402Version":{VERSION},"error":{},"resource":{},"accepts":{},"extensions":{}{}}}"#,
        Value::from(shortened(reason)),
        resource.json(),
        accepts,
        extensions.offered(sponsoring),
        allowance_member.unwrap_or_default(),
    );
    let header = HeaderValue::try_from(STANDARD.encode(json)).expect("base64 is valid in a header");
    let body = unpaid_body(first.amount, &networks, mode, accepts);
    Some(Challenge { body, header, allowance })
}

/// The body of an answer about an unpaid order.
#[derive(Serialize)]
struct UnpaidBody<'a> {
    public_order_id: &'a str,
    status: &'static str,
    mode: &'static str,
    maximum: String,
    currency: &'static str,
    networks: Vec<&'static str>,
    order_url: String,
    how_to_pay: &'static str,
    /// As in `PAYMENT-REQUIRED`, for programs that read only bodies.
    #[serde(rename = "x402Version")]
    version: u64,
    accepts: Value,
}

pub(super) const HOW_TO_PAY: &str = "PAYMENT-REQUIRED is base64 JSON. Sign one entry of its accepts with an x402 v2 client, whose \
     spend limit must be at least the maximum, and send the identical body again with the result \
     in PAYMENT-SIGNATURE. You are charged the provider's total plus 21%, never more than the \
     maximum.";

/// Rendered once for all orders, with a placeholder for the order id.
fn unpaid_body(maximum: Usdc, networks: &[Network], mode: PaymentMode, accepts: Value) -> Template {
    // Not an id of zeros: an address may contain as many.
    let placeholder = "{public_order_id}";
    let body = UnpaidBody {
        public_order_id: placeholder,
        status: Status::Unpaid.word(),
        mode: mode.as_str(),
        maximum: maximum.to_string(),
        currency: "USDC",
        networks: networks.iter().map(|network| network.caip2()).collect(),
        order_url: format!("/api/x402/orders/{placeholder}"),
        how_to_pay: HOW_TO_PAY,
        version: VERSION,
        accepts,
    };
    let json = serde_json::to_string(&body).expect("strings are valid JSON");
    Template::new(&json, &[placeholder])
}

/// The last challenge for a request without a payment. It serves every request until another
/// seller is asked for or the support of a network changes.
#[derive(Default)]
pub(super) struct ChallengeCache(Mutex<Option<(Requirements, Arc<Challenge>)>>);

impl ChallengeCache {
    pub(super) fn challenge(
        &self,
        offer: &Offer,
        settler: &dyn Permit2Settler,
        endpoint: EndpointDescription<'_>,
        reason: &'static str,
    ) -> Option<Arc<Challenge>> {
        let requirements = requirements(offer, settler);
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, challenge)) = &*cached
            && *known == requirements
        {
            return Some(challenge.clone());
        }
        let challenge = Arc::new(write(&requirements, endpoint, reason)?);
        *cached = Some((requirements, challenge.clone()));
        Some(challenge)
    }
}

#[cfg(test)]
mod tests;
