//! What a payer is asked for: `PAYMENT-REQUIRED`, and one entry of it for whoever needs it.

use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use order::model::chain::{EvmAddress, Network};
use order::model::ids::OrderId;
use order::model::money::Usdc;
use order::model::offer::Offer;
use order::status::Status;
use serde::Serialize;
use serde_json::{Value, json};

use super::extensions::Extensions;
use super::facilitator::{Facilitator, Service, Sponsoring};
use super::resource::Resource;
use super::{VERSION, allowance};
use crate::eip712::{TOKEN_NAME, TOKEN_VERSION};
use crate::fault::short;
use crate::form::Form;
use crate::mode::Mode;

pub const SCHEME: &str = "upto";
/// How long a payer's promise lives. It has to cover checking it, asking the
/// provider, and settling on a busy chain.
pub const TIMEOUT_SECONDS: u64 = 600;
pub(super) const TRANSFER_METHOD: &str = "permit2";

/// What is asked for on one network: an entry of `accepts`, and the
/// `paymentRequirements` of a facilitator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirement {
    pub network: Network,
    pub pay_to: EvmAddress,
    /// The most that may be taken, or at settlement what is taken.
    pub amount: Usdc,
    /// Whom the promise names as the one who may carry it.
    pub carrier: EvmAddress,
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
                "facilitatorAddress": self.carrier.to_string(),
            },
        })
    }
}

/// A challenge, ready to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Challenge {
    /// What a program is told beside it.
    pub(super) body: Form,
    /// The value of `PAYMENT-REQUIRED`: padded standard base64, which is all
    /// that official clients read.
    pub(super) header: HeaderValue,
    /// What is missing on a chain, where that is why payment is asked for again.
    pub(super) allowance: Option<Value>,
}

/// What a challenge is made of, beside what never changes.
type Lines = Vec<(Requirement, Sponsoring)>;

/// Wherever the seller has an address and somebody carries promises.
fn lines(offer: &Offer, facilitator: &dyn Facilitator) -> Lines {
    let line = |(network, pay_to)| {
        let Service { carrier, sponsoring } = facilitator.service(network)?;
        let amount = offer.price.ceiling();
        Some((Requirement { network, pay_to, amount, carrier }, sponsoring))
    };
    offer.payees.iter().filter_map(line).collect()
}

/// Asks for an offer to be paid. None if that can be done nowhere: a challenge
/// that names no carrier cannot be signed.
pub(super) fn challenge(
    offer: &Offer,
    facilitator: &dyn Facilitator,
    sold: Sold<'_>,
    reason: &str,
) -> Option<Challenge> {
    write(&lines(offer, facilitator), sold, reason)
}

/// What all challenges of one endpoint share.
#[derive(Clone, Copy)]
pub(super) struct Sold<'a> {
    pub(super) resource: &'a Resource,
    pub(super) extensions: &'a Extensions,
    pub(super) mode: Mode,
}

fn write(lines: &[(Requirement, Sponsoring)], sold: Sold<'_>, reason: &str) -> Option<Challenge> {
    let Sold { resource, extensions, mode } = sold;
    let sponsored = lines.iter().any(|(_, sponsoring)| *sponsoring == Sponsoring::Offered);
    let sponsoring = if sponsored { Sponsoring::Offered } else { Sponsoring::NotOffered };
    let accepts: Vec<String> =
        lines.iter().map(|(line, _)| mode.mark(line.json()).to_string()).collect();
    let (first, _) = lines.first()?;
    let networks: Vec<Network> = lines.iter().map(|(line, _)| line.network).collect();
    let missing = (reason == allowance::REQUIRED)
        .then(|| allowance::missing(&networks, first.amount, sponsoring));
    let told = missing
        .clone()
        .map(|missing| format!(r#","allowance":{}"#, allowance::within_a_header(missing)));
    let json = format!(
        r#"{{"x402Version":{VERSION},"error":{},"resource":{},"accepts":[{}],"extensions":{}{}}}"#,
        Value::from(short(reason)),
        resource.json(),
        accepts.join(","),
        extensions.offered(sponsoring),
        told.unwrap_or_default(),
    );
    // Every letter of base64 may stand in a header.
    let header = HeaderValue::try_from(STANDARD.encode(json)).ok()?;
    Some(Challenge { body: form(first.amount, lines, mode), header, allowance: missing })
}

/// What a program is told of an order that waits for money.
#[derive(Serialize)]
struct Asked<'a> {
    public_order_id: &'a str,
    status: &'static str,
    mode: &'static str,
    maximum: String,
    currency: &'static str,
    networks: Vec<&'static str>,
    order_url: String,
    how_to_pay: &'static str,
}

pub(super) const HOW_TO_PAY: &str = "PAYMENT-REQUIRED is base64 JSON. Sign one entry of its accepts with an x402 v2 client, whose \
     spend limit must be at least the maximum, and send the identical body again with the result \
     in PAYMENT-SIGNATURE. You are charged the provider's total plus 21%, never more than the \
     maximum.";

/// Written once for all orders, with a gap for each one's id.
fn form(most: Usdc, lines: &[(Requirement, Sponsoring)], mode: Mode) -> Form {
    let gap = OrderId::from_bytes([0; 16]).to_string();
    let asked = Asked {
        public_order_id: &gap,
        status: Status::Unpaid.word(),
        mode: mode.word(),
        maximum: most.to_string(),
        currency: "USDC",
        networks: lines.iter().map(|(line, _)| line.network.caip2()).collect(),
        order_url: format!("/api/x402/orders/{gap}"),
        how_to_pay: HOW_TO_PAY,
    };
    // Texts make JSON without fail.
    Form::of(&serde_json::to_string(&asked).unwrap_or_default(), &[&gap])
}

/// The challenge that was written last for those who bring no payment. The next
/// one is asked for the same, unless it is another seller's or a carrier changed.
#[derive(Default)]
pub(super) struct Usual(Mutex<Option<(Lines, Arc<Challenge>)>>);

impl Usual {
    pub(super) fn challenge(
        &self,
        offer: &Offer,
        facilitator: &dyn Facilitator,
        sold: Sold<'_>,
        reason: &'static str,
    ) -> Option<Arc<Challenge>> {
        let lines = lines(offer, facilitator);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, challenge)) = &*kept
            && *known == lines
        {
            return Some(challenge.clone());
        }
        let challenge = Arc::new(write(&lines, sold, reason)?);
        *kept = Some((lines, challenge.clone()));
        Some(challenge)
    }
}

#[cfg(test)]
mod tests;
