//! Requests to a facilitator, and the stored preparation.

use evm::hex;
use order::model::money::Usdc;
use order::model::payment::Preparation;
use pay::x402::credential::Permit2Authorization;
use serde_json::{Map, Value, json};

/// The facilitator's name in the log.
pub(super) const PEER: &str = "the facilitator";

/// An endpoint of the facilitator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FacilitatorEndpoint {
    Verify,
    Settle,
}

impl FacilitatorEndpoint {
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Verify => "verify",
            Self::Settle => "settle",
        }
    }
}

/// The payer's payload and our requirements. With `upto` the amount is the maximum for
/// verification and the charge for settlement; the rest is as the payer accepted it, with our
/// checked values.
///
/// The payload is unchanged, except that a signature is sent without the deployment of its wallet
/// (ERC-6492): the official facilitator settles without it too, and does not verify with it.
pub(super) fn request(authorization: &Permit2Authorization, amount: Usdc) -> Value {
    let accepted = authorization.payload.get("accepted").and_then(Value::as_object);
    let mut wanted: Map<String, Value> = accepted.cloned().unwrap_or_default();
    for (name, value) in [
        ("scheme", "upto".to_owned()),
        ("network", authorization.network.caip2().to_owned()),
        ("amount", amount.atomic().to_string()),
        ("asset", authorization.network.usdc().to_string()),
        ("payTo", authorization.pay_to.to_string()),
    ] {
        wanted.insert(name.to_owned(), Value::from(value));
    }
    if let Some(extra) = wanted.get_mut("extra").and_then(Value::as_object_mut) {
        let facilitator = authorization.facilitator.to_string();
        extra.insert("facilitatorAddress".to_owned(), Value::from(facilitator));
    }
    let mut payload = Value::clone(&authorization.payload);
    if let Some(signature) = payload.pointer_mut("/payload/signature")
        && authorization.has_deployment()
    {
        *signature = Value::from(hex::encode(authorization.account_signature()));
    }
    json!({
        "x402Version": 2,
        "paymentPayload": payload,
        "paymentRequirements": wanted,
    })
}

/// A block before the settlement, stored with the order.
pub(super) fn mark(block: u64) -> Preparation {
    Preparation(block.to_be_bytes().to_vec())
}

/// None if there was no node.
pub(super) fn marked(preparation: &Preparation) -> Option<u64> {
    let bytes: [u8; 8] = preparation.0.as_slice().try_into().ok()?;
    Some(u64::from_be_bytes(bytes))
}
