//! What a facilitator's answer means: the one place that decides whether money moved.

use order::model::chain::EvmAddress;
use order::model::money::Usdc;
use order::tender::Rejection;
use pay::x402::credential::Promise;
use serde::Deserialize;

use crate::http::{Answer, Silence};

const ALLOWANCE: &str = "permit2_allowance_required";
const PENDING: &str = "settlement_pending";
/// The facilitator's own trouble, in the shape of a verdict about the payer.
const ITS_OWN_TROUBLE: [&str; 2] = ["unexpected_verify_error", "unexpected_settle_error"];

/// The only reasons that prove that nothing was sent, now or earlier: each is
/// found by reading the request alone, which is the same every time. All
/// others look at the chain or at the time, and an earlier settlement whose
/// answer was lost can be the very cause: it used the nonce, or the money.
const FOUND_BY_READING: [&str; 8] = [
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
struct Verified {
    is_valid: bool,
    #[serde(default)]
    invalid_reason: Option<String>,
    #[serde(default)]
    payer: Option<String>,
}

/// A verification moves nothing, so what is unclear is only unavailable.
pub(super) fn verified(
    answer: Result<Answer, Silence>,
    promise: &Promise,
) -> Result<(), Rejection> {
    let answer = answer.map_err(|_| Rejection::Unavailable)?;
    // Some say no with a status of their own; the body comes first.
    let said: Verified = answer.body_as().ok_or(Rejection::Unavailable)?;
    let reason = said.invalid_reason.filter(|reason| !reason.is_empty());
    match (said.is_valid, reason) {
        (true, None) if answer.is_good() && is_of(said.payer.as_deref(), promise.payer) => Ok(()),
        (true, _) | (false, None) => Err(Rejection::Unavailable),
        (false, Some(reason)) if reason == ALLOWANCE => Err(Rejection::AllowanceMissing),
        (false, Some(reason)) if ITS_OWN_TROUBLE.contains(&reason.as_str()) => {
            Err(Rejection::Unavailable)
        }
        (false, Some(reason)) => Err(Rejection::Invalid(printable(&reason))),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Settled {
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

/// What was said about a settlement. The words are for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// In this transaction.
    Moved(String),
    /// Sent, and not yet in a block.
    Pending,
    /// Nothing was sent, certainly.
    Refused(String),
    Lost(String),
}

pub(super) fn settled(answer: Result<Answer, Silence>, promise: &Promise, charge: Usdc) -> Said {
    let answer = match answer {
        Ok(answer) => answer,
        Err(silence @ Silence::Refused(_)) => return Said::Refused(silence.to_string()),
        Err(silence @ Silence::Lost(_)) => return Said::Lost(silence.to_string()),
    };
    let Some(said) = answer.body_as::<Settled>() else {
        return Said::Lost(format!("no result, with status {}", answer.status));
    };
    if said.success {
        return match said.fault(promise, charge) {
            Some(fault) => Said::Lost(fault),
            None if !answer.is_good() => {
                Said::Lost(format!("success, with status {}", answer.status))
            }
            None => Said::Moved(said.transaction().to_ascii_lowercase()),
        };
    }
    let reason = said.error_reason.as_deref().unwrap_or_default();
    match (reason, said.transaction()) {
        (PENDING, transaction) if is_hash(transaction) => Said::Pending,
        (reason, "") if FOUND_BY_READING.contains(&reason) => Said::Refused(reason.to_owned()),
        (reason, "") => Said::Lost(format!("no success, and no proof: {}", printable(reason))),
        (reason, _) => Said::Lost(format!("no success, though sent: {}", printable(reason))),
    }
}

impl Settled {
    fn transaction(&self) -> &str {
        self.transaction.as_deref().unwrap_or_default()
    }

    /// Why a success is not the one that was asked for.
    fn fault(&self, promise: &Promise, charge: Usdc) -> Option<String> {
        let owed = charge.atomic().to_string();
        if self.amount.as_deref() != Some(&owed) {
            return Some("success over another amount, or over none".to_owned());
        }
        if self.network.as_deref() != Some(promise.network.caip2()) {
            return Some("success on another network, or on none".to_owned());
        }
        if !is_hash(self.transaction()) {
            return Some("success without a transaction".to_owned());
        }
        if !is_of(self.payer.as_deref(), promise.payer) {
            return Some("success for another payer".to_owned());
        }
        let reason = self.error_reason.as_deref().filter(|reason| !reason.is_empty())?;
        Some(format!("success, and an error: {}", printable(reason)))
    }
}

/// Whether an answer is about this payer, or leaves that out.
fn is_of(named: Option<&str>, payer: EvmAddress) -> bool {
    named.is_none_or(|named| named.is_empty() || named.eq_ignore_ascii_case(&payer.to_string()))
}

/// `0x` and 64 digits.
fn is_hash(text: &str) -> bool {
    let digits = text.strip_prefix("0x").unwrap_or_default();
    digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// Somebody else's words, fit for a header and a log line.
fn printable(words: &str) -> String {
    let plain = |letter: char| if matches!(letter, ' '..='~') { letter } else { '?' };
    words.chars().take(REASON_CHARACTERS_MAX).map(plain).collect()
}
