//! x402's scheme `exact`, which the clients of MPP speak too: the same transfer, asked for
//! in `PAYMENT-REQUIRED` and sent in `PAYMENT-SIGNATURE`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use order::model::chain::EvmAddress;
use order::model::money::Usdc;
use order::tender::Rejection;
use serde_json::{Value, json};

use super::challenge::TIMEOUT_SECONDS;
use super::problem::Flaw;
use super::{NETWORK, credential::Authorization};
use crate::digits::address;
use crate::eip712::{TOKEN_NAME, TOKEN_VERSION};
use crate::fault::short;
use crate::mode::Mode;
use crate::x402::VERSION;
use crate::x402::extensions::FOR_REGISTRIES;
use crate::x402::resource::{Repeated, Resource};

const SCHEME: &str = "exact";

/// The value of `PAYMENT-REQUIRED`. The official MPP client gives up on a challenge of its
/// own beside one of these that does not read, so it is whole or not there.
pub(super) fn required(
    amount: Usdc,
    pay_to: EvmAddress,
    resource: &Resource,
    mode: Mode,
    reason: &str,
) -> String {
    let json = format!(
        r#"{{"x402Version":{VERSION},"error":{},"resource":{},"accepts":[{}],"extensions":{}}}"#,
        Value::from(short(reason)),
        resource.json(),
        mode.mark(entry(amount, pay_to)),
        *FOR_REGISTRIES,
    );
    STANDARD.encode(json)
}

fn entry(amount: Usdc, pay_to: EvmAddress) -> Value {
    json!({
        "scheme": SCHEME,
        "network": NETWORK.caip2(),
        "amount": amount.atomic().to_string(),
        "asset": NETWORK.usdc().to_string(),
        "payTo": pay_to.to_string(),
        "maxTimeoutSeconds": TIMEOUT_SECONDS,
        "extra": { "name": TOKEN_NAME, "version": TOKEN_VERSION },
    })
}

/// Whether a payload accepts what is asked for now. Extra members are nobody's business.
pub(super) fn accepts(
    payload: &Value,
    amount: Usdc,
    pay_to: EvmAddress,
    resource: &Resource,
) -> Result<(), Rejection> {
    if payload["x402Version"] != VERSION {
        return Err(
            Flaw::Malformed.because("Payment-Signature holds no x402 payload of version 2.")
        );
    }
    let (accepted, wanted) = (&payload["accepted"], entry(amount, pay_to));
    let is = |name: &str| {
        let (theirs, ours) = (&accepted[name], &wanted[name]);
        let same = theirs.as_str().and_then(address) == ours.as_str().and_then(address);
        theirs.is_string() && same
    };
    let extra = &accepted["extra"];
    let same = ["scheme", "network", "amount", "maxTimeoutSeconds"]
        .iter()
        .all(|name| accepted[name] == wanted[name])
        && is("asset")
        && is("payTo")
        && extra["name"] == TOKEN_NAME
        && extra["version"] == TOKEN_VERSION;
    if !same {
        return Err(Flaw::Challenge
            .because("The payload accepts other terms than those of PAYMENT-REQUIRED."));
    }
    match resource.is_repeated(&payload["resource"]) {
        Repeated::AsItWas => Ok(()),
        Repeated::Otherwise => {
            Err(Flaw::Challenge.because("The payload pays for another resource than this one."))
        }
    }
}

/// The value of `PAYMENT-RESPONSE` for money that moved.
pub(super) fn response(authorization: &Authorization, transaction: &str) -> String {
    let response = json!({
        "success": true,
        "payer": authorization.from.to_string(),
        "transaction": transaction,
        "network": authorization.network.caip2(),
        "amount": authorization.value.atomic().to_string(),
    });
    STANDARD.encode(response.to_string())
}
