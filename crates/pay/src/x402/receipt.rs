//! What a payer is told of the money: `PAYMENT-RESPONSE`, for good and for bad.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use order::model::money::Usdc;
use order::model::offer::Offer;
use order::model::payment::{Receipt, Settlement};
use serde_json::{Value, json};

use super::credential::Promise;
use crate::fault::short;
use crate::movement::Moved;

/// Money that moved, with the receipt for it.
pub(super) fn settlement(promise: &Promise, amount: Usdc, moved: Moved) -> Settlement {
    let Moved { transaction, at, finality } = moved;
    let receipt = json!({
        "success": true,
        "payer": promise.payer.to_string(),
        "transaction": transaction,
        "network": promise.network.caip2(),
        // What was taken, not what might have been: `upto` demands it.
        "amount": amount.atomic().to_string(),
    });
    let receipt = Receipt(receipt.to_string().into_bytes());
    Settlement { transaction, amount, at, finality, receipt }
}

/// The receipt for money that certainly did not move. Whoever seals the answer
/// knows neither payer nor network any more, so the reason travels as this.
pub(super) fn failure(promise: &Promise, reason: &str) -> String {
    let receipt = json!({
        "success": false,
        "errorReason": short(reason),
        "payer": promise.payer.to_string(),
        "transaction": "",
        "network": promise.network.caip2(),
    });
    receipt.to_string()
}

/// The value of the header for a receipt.
pub(super) fn header(receipt: &[u8]) -> String {
    STANDARD.encode(receipt)
}

/// The value of the header for a payment that was declined. A reason that is
/// no receipt yet becomes one, with what the offer knows.
pub(super) fn declined(offer: &Offer, reason: &str) -> String {
    let written = serde_json::from_str::<Value>(reason);
    if written.is_ok_and(|receipt| receipt["success"] == false) {
        return header(reason.as_bytes());
    }
    let network = offer.payees.iter().next().map(|(network, _)| network.caip2());
    let receipt = json!({
        "success": false,
        "errorReason": short(reason),
        "transaction": "",
        "network": network,
    });
    header(receipt.to_string().as_bytes())
}
