//! The receipts of x402: `PAYMENT-RESPONSE` after a settlement and after a failed one.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use order::model::money::Usdc;
use order::model::offer::Offer;
use order::model::payment::{Receipt, Settlement};
use serde_json::{Value, json};

use super::credential::Permit2Authorization;
use crate::reason::shortened;
use crate::transfer::ConfirmedTransfer;

/// A settlement with its receipt.
pub(super) fn settlement(
    authorization: &Permit2Authorization,
    amount: Usdc,
    moved: ConfirmedTransfer,
) -> Settlement {
    let ConfirmedTransfer { transaction, at, finality } = moved;
    let receipt = json!({
        "success": true,
        "payer": authorization.payer.to_string(),
        "transaction": transaction,
        "network": authorization.network.caip2(),
        // The charged amount, not the authorized one, as `upto` requires.
        "amount": amount.atomic().to_string(),
    });
    let receipt = Receipt(receipt.to_string().into_bytes());
    Settlement { transaction, amount, at, finality, receipt }
}

/// The receipt of a payment that certainly did not move money. It becomes the reason of the
/// refusal, because the HTTP binding knows neither the payer nor the network.
pub(super) fn failure(authorization: &Permit2Authorization, reason: &str) -> String {
    let receipt = json!({
        "success": false,
        "errorReason": shortened(reason),
        "payer": authorization.payer.to_string(),
        "transaction": "",
        "network": authorization.network.caip2(),
    });
    receipt.to_string()
}

/// The value of the header for a receipt.
pub(super) fn header(receipt: &[u8]) -> HeaderValue {
    HeaderValue::try_from(STANDARD.encode(receipt)).expect("base64 is valid in a header")
}

/// The value of the header for a declined payment. A reason that is not a receipt becomes one,
/// with the first network of the offer.
pub(super) fn declined(offer: &Offer, reason: &str) -> HeaderValue {
    let written = serde_json::from_str::<Value>(reason);
    if written.is_ok_and(|receipt| receipt["success"] == false) {
        return header(reason.as_bytes());
    }
    let network = offer.payees.iter().next().map(|(network, _)| network.caip2());
    let receipt = json!({
        "success": false,
        "errorReason": shortened(reason),
        "transaction": "",
        "network": network,
    });
    header(receipt.to_string().as_bytes())
}
