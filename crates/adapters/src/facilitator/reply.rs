//! What a facilitator's responses mean: paid, pending, refused or lost. `facilitator.rs`
//! compares them with the chain.

use order::model::chain::EvmAddress;
use order::model::money::Usdc;
use order::tender::Rejection;
use pay::x402::credential::Permit2Authorization;
use serde::Deserialize;

use crate::http::{CallError, HttpResponse};

const ALLOWANCE: &str = "permit2_allowance_required";
const PENDING: &str = "settlement_pending";
/// Errors of the facilitator itself, sent as an invalid payment.
const FACILITATOR_ERRORS: [&str; 2] = ["unexpected_verify_error", "unexpected_settle_error"];

/// The only reasons that prove that nothing was sent, now or earlier: each follows from the
/// request alone, which is always the same. All others depend on the chain or the time, and an
/// earlier settlement whose answer was lost can be their cause: it used the nonce or the balance.
const INVALID_REQUEST_REASONS: [&str; 8] = [
    "unsupported_payload_type",
    "invalid_upto_evm_scheme",
    "invalid_upto_evm_network_mismatch",
    "invalid_upto_evm_payload_settlement_exceeds_amount",
    "invalid_permit2_spender",
    "invalid_permit2_recipient_mismatch",
    "permit2_amount_mismatch",
    "permit2_token_mismatch",
];

/// Longer than any reason that we know, and short enough for a header.
const REASON_CHARACTERS_MAX: usize = 120;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VerifyResponse {
    is_valid: bool,
    #[serde(default)]
    invalid_reason: Option<String>,
    #[serde(default)]
    payer: Option<String>,
}

/// A verification moves nothing, so an unclear response is `Unavailable`.
pub(super) fn verified(
    answer: Result<HttpResponse, CallError>,
    authorization: &Permit2Authorization,
) -> Result<(), Rejection> {
    let answer = answer.map_err(|_| Rejection::Unavailable)?;
    // Some facilitators send an error status with a result, so the body is read first.
    let reply: VerifyResponse = answer.body_as().ok_or(Rejection::Unavailable)?;
    let reason = reply.invalid_reason.filter(|reason| !reason.is_empty());
    match (reply.is_valid, reason) {
        (true, None)
            if answer.is_success() && is_of(reply.payer.as_deref(), authorization.payer) =>
        {
            Ok(())
        }
        (true, _) | (false, None) => Err(Rejection::Unavailable),
        (false, Some(reason)) if reason == ALLOWANCE => Err(Rejection::AllowanceMissing),
        (false, Some(reason)) if FACILITATOR_ERRORS.contains(&reason.as_str()) => {
            Err(Rejection::Unavailable)
        }
        (false, Some(reason)) => Err(Rejection::Invalid(printable(&reason))),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SettleResponse {
    success: bool,
    #[serde(default)]
    error_reason: Option<String>,
    #[serde(default)]
    transaction: Option<String>,
    #[serde(default)]
    network: Option<String>,
    #[serde(default)]
    amount: Option<String>,
    #[serde(default)]
    payer: Option<String>,
}

/// The outcome of a settlement request. The texts are for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SettleReply {
    /// In this transaction.
    Moved(String),
    /// Sent, and not yet in a block.
    Pending,
    /// Nothing was sent, certainly.
    Refused(String),
    /// The facilitator was not reached: the same payment is still good.
    NotReached(String),
    Lost(String),
}

pub(super) fn settled(
    answer: Result<HttpResponse, CallError>,
    authorization: &Permit2Authorization,
    charge: Usdc,
) -> SettleReply {
    let answer = match answer {
        Ok(answer) => answer,
        Err(error @ CallError::Refused(_)) => return SettleReply::NotReached(error.to_string()),
        Err(error @ CallError::Lost(_)) => return SettleReply::Lost(error.to_string()),
    };
    let Some(reply) = answer.body_as::<SettleResponse>() else {
        return SettleReply::Lost(format!("no result, with status {}", answer.status));
    };
    if reply.success {
        return match reply.fault(authorization, charge) {
            Some(fault) => SettleReply::Lost(fault),
            None if !answer.is_success() => {
                SettleReply::Lost(format!("success, with status {}", answer.status))
            }
            None => SettleReply::Moved(reply.transaction().to_ascii_lowercase()),
        };
    }
    let reason = reply.error_reason.as_deref().unwrap_or_default();
    match (reason, reply.transaction()) {
        (PENDING, transaction) if is_hash(transaction) => SettleReply::Pending,
        (reason, "") if INVALID_REQUEST_REASONS.contains(&reason) => {
            SettleReply::Refused(reason.to_owned())
        }
        (reason, "") => {
            SettleReply::Lost(format!("no success, and no proof: {}", printable(reason)))
        }
        (reason, _) => SettleReply::Lost(format!("no success, though sent: {}", printable(reason))),
    }
}

impl SettleResponse {
    fn transaction(&self) -> &str {
        self.transaction.as_deref().unwrap_or_default()
    }

    /// Why a success is not the requested one.
    fn fault(&self, authorization: &Permit2Authorization, charge: Usdc) -> Option<String> {
        let owed = charge.atomic().to_string();
        // mutant: other-amount-settled
        if self.amount.as_deref() != Some(&owed) {
            return Some("success over another amount, or over none".to_owned());
        }
        if self.network.as_deref() != Some(authorization.network.caip2()) {
            return Some("success on another network, or on none".to_owned());
        }
        if !is_hash(self.transaction()) {
            return Some("success without a transaction".to_owned());
        }
        if !is_of(self.payer.as_deref(), authorization.payer) {
            return Some("success for another payer".to_owned());
        }
        let reason = self.error_reason.as_deref().filter(|reason| !reason.is_empty())?;
        Some(format!("success, and an error: {}", printable(reason)))
    }
}

/// Whether a response is about this payer, or names none.
fn is_of(named: Option<&str>, payer: EvmAddress) -> bool {
    named.is_none_or(|named| named.is_empty() || named.eq_ignore_ascii_case(&payer.to_string()))
}

/// `0x` and 64 digits.
fn is_hash(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or_default();
    digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// External text, made safe for a header and the log.
fn printable(words: &str) -> String {
    let plain = |letter: char| if matches!(letter, ' '..='~') { letter } else { '?' };
    words.chars().take(REASON_CHARACTERS_MAX).map(plain).collect()
}
