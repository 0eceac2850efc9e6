//! The x402 scheme `exact`, which MPP clients also use: the same transfer, required in
//! `PAYMENT-REQUIRED` and sent in `PAYMENT-SIGNATURE`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use order::model::chain::EvmAddress;
use order::model::money::Usdc;
use order::tender::Rejection;
use serde_json::{Value, json};

use super::credential::TransferAuthorization;
use super::problem::CredentialProblem;
use super::{NETWORK, TIMEOUT_SECONDS};
use crate::eip712::{TOKEN_NAME, TOKEN_VERSION};
use crate::mode::PaymentMode;
use crate::parse::address;
use crate::reason::shortened;
use crate::x402::VERSION;
use crate::x402::extensions::BAZAAR_ONLY;
use crate::x402::resource::{Resource, ResourceEcho};

const SCHEME: &str = "exact";

/// The value of `PAYMENT-REQUIRED`. The official MPP client ignores its own challenge if it
/// cannot parse this header.
pub(super) fn required(
    amount: Usdc,
    pay_to: EvmAddress,
    resource: &Resource,
    mode: PaymentMode,
    reason: &str,
) -> HeaderValue {
    let json = format!(
        r#"{{"x402Version":{VERSION},"error":{},"resource":{},"accepts":[{}],"extensions":{}}}"#,
        Value::from(shortened(reason)),
        resource.json(),
        mode.mark(requirement(amount, pay_to)),
        *BAZAAR_ONLY,
    );
    HeaderValue::try_from(STANDARD.encode(json)).expect("base64 is valid in a header")
}

fn requirement(amount: Usdc, pay_to: EvmAddress) -> Value {
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

/// Checks that a payload accepts the current requirement. Other members are ignored.
pub(super) fn accepts(
    payload: &Value,
    amount: Usdc,
    pay_to: EvmAddress,
    resource: &Resource,
) -> Result<(), Rejection> {
    if payload["x402Version"] != VERSION {
        return Err(CredentialProblem::Malformed
            .rejection("Payment-Signature holds no x402 payload of version 2."));
    }
    let (accepted, wanted) = (&payload["accepted"], requirement(amount, pay_to));
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
        return Err(CredentialProblem::InvalidChallenge
            .rejection("The payload accepts other terms than those of PAYMENT-REQUIRED."));
    }
    match resource.compare_echo(&payload["resource"]) {
        ResourceEcho::Same => Ok(()),
        ResourceEcho::Different => Err(CredentialProblem::InvalidChallenge
            .rejection("The payload pays for another resource than this one.")),
    }
}

/// The value of `PAYMENT-RESPONSE` after a settlement.
pub(super) fn response(authorization: &TransferAuthorization, transaction: &str) -> String {
    let response = json!({
        "success": true,
        "payer": authorization.from.to_string(),
        "transaction": transaction,
        "network": authorization.network.caip2(),
        "amount": authorization.value.atomic().to_string(),
    });
    STANDARD.encode(response.to_string())
}
