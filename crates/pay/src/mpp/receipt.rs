//! The receipt of MPP: `Payment-Receipt`, stored as it was first written.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderValue;
use order::model::payment::{Receipt, Settlement};
use serde_json::json;

use super::credential::{PaymentProof, TransferAuthorization};
use super::{METHOD, x402_exact};
use crate::transfer::ConfirmedTransfer;

/// Separates the receipt from the one for x402 clients. Never part of base64.
const SEPARATOR: char = '\n';

/// ChallengeTemplate that moved, with the receipt for it. What is kept are the headers' values
/// themselves, so that a repeated answer has them byte for byte.
pub(super) fn settlement(
    proof: &PaymentProof,
    authorization: &TransferAuthorization,
    moved: ConfirmedTransfer,
) -> Settlement {
    let ConfirmedTransfer { transaction, at, finality } = moved;
    let mut receipt = json!({
        "status": "success",
        "method": METHOD,
        "timestamp": at.to_string(),
        "reference": transaction,
        "chainId": authorization.network.chain_id(),
    });
    if let Some(id) = proof.challenge() {
        receipt["challengeId"] = id.into();
    }
    let mut stored = URL_SAFE_NO_PAD.encode(receipt.to_string());
    match proof {
        PaymentProof::Payment(_) => {}
        PaymentProof::Exact(_) => {
            stored.push(SEPARATOR);
            stored.push_str(&x402_exact::response(authorization, &transaction));
        }
    }
    let receipt = Receipt(stored.into_bytes());
    Settlement { transaction, amount: authorization.value, at, finality, receipt }
}

/// The header values of a stored receipt.
pub(super) struct ReceiptHeaders {
    /// `Payment-Receipt`.
    pub(super) receipt: HeaderValue,
    /// `PAYMENT-RESPONSE`, if the payer used x402.
    pub(super) response: Option<HeaderValue>,
}

/// Reads a stored receipt; `None` if it is not one of MPP.
pub(super) fn headers(receipt: &Receipt) -> Option<ReceiptHeaders> {
    let stored = str::from_utf8(&receipt.0).ok()?;
    let (receipt, response) = match stored.split_once(SEPARATOR) {
        Some((receipt, response)) => (receipt, Some(response)),
        None => (stored, None),
    };
    URL_SAFE_NO_PAD.decode(receipt).ok().filter(|json| !json.is_empty())?;
    let header = |text: &str| HeaderValue::try_from(text).ok();
    Some(ReceiptHeaders { receipt: header(receipt)?, response: response.and_then(header) })
}
