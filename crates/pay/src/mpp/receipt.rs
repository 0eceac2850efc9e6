//! What a payer is told of money that moved: `Payment-Receipt`, kept as it was first written.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use order::model::payment::{Receipt, Settlement};
use serde_json::json;

use super::credential::{Authorization, Proof};
use super::{METHOD, exact};
use crate::movement::Moved;

/// Between the receipt and what x402's clients get beside it. No base64 has it.
const BETWEEN: char = '\n';

/// Money that moved, with the receipt for it. What is kept are the headers' values
/// themselves, so that a repeated answer has them byte for byte.
pub(super) fn settlement(proof: &Proof, authorization: &Authorization, moved: Moved) -> Settlement {
    let Moved { transaction, at, finality } = moved;
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
    let mut kept = URL_SAFE_NO_PAD.encode(receipt.to_string());
    match proof {
        Proof::Payment(_) => {}
        Proof::Exact(_) => {
            kept.push(BETWEEN);
            kept.push_str(&exact::response(authorization, &transaction));
        }
    }
    let receipt = Receipt(kept.into_bytes());
    Settlement { transaction, amount: authorization.value, at, finality, receipt }
}

/// The values of the headers that a settlement's receipt is told in.
pub(super) struct Headers<'a> {
    /// `Payment-Receipt`.
    pub(super) receipt: &'a str,
    /// `PAYMENT-RESPONSE`, if the payer spoke x402.
    pub(super) response: Option<&'a str>,
}

/// None if it is not one of these.
pub(super) fn headers(receipt: &Receipt) -> Option<Headers<'_>> {
    let kept = str::from_utf8(&receipt.0).ok()?;
    let (receipt, response) = match kept.split_once(BETWEEN) {
        Some((receipt, response)) => (receipt, Some(response)),
        None => (kept, None),
    };
    let written = URL_SAFE_NO_PAD.decode(receipt).is_ok_and(|json| !json.is_empty());
    written.then_some(Headers { receipt, response })
}
