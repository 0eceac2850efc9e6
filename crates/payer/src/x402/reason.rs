//! What x402's codes for a payment that was refused mean to its payer, and what to do next.

const ASK_AGAIN: &str = "The payment is not one for the present challenge. Ask for it again and \
    sign that.";
const OTHER_FACILITATOR: &str = "The account that carries payments is another one than the payment \
    names. Ask for the challenge again and sign that.";
const TOO_LITTLE: &str = "The card costs more than was signed for. Ask for the challenge again.";
const TOO_EARLY: &str = "The payment does not hold yet. Look at this machine's clock, then sign a \
    new one.";
const BAD_PERMIT: &str = "The allowance that was signed along does not fit the payment. Allow \
    Permit2 with your wallet instead, then pay without --rpc-url.";
const UNREAD: &str = "The service does not read payments in this form. Is this command older or \
    newer than the service?";

/// The names are x402's own, or our service's where x402 has none.
const REASONS: &[(&str, &str)] = &[
    (
        "permit2_insufficient_balance",
        "The payer's account does not hold enough USDC on this network. Add some, or pay from \
         another account or on another network.",
    ),
    ("permit2_allowance_required", "Permit2 may not take the payer's USDC yet."),
    (
        "permit2_deadline_expired",
        "The payment has run out, or is about to. Sign a new one; if that one has run out too, \
         look at this machine's clock.",
    ),
    (
        "permit2_invalid_nonce",
        "The number of this payment was used or cancelled before. Look at the order and at the \
         payer's account before you sign a new one.",
    ),
    (
        "permit2_simulation_failed",
        "The chain refused the payment when it was tried. Look at the payer's USDC and allowance, \
         or pay from another account or on another network.",
    ),
    (
        "invalid_permit2_signature",
        "The signature is not the payer's. Look whether the key is the one of that account.",
    ),
    (
        "contract_wallet_not_accepted",
        "This service takes no payments from accounts with code. Pay from a plain account.",
    ),
    (
        "contract_wallet_not_deployed",
        "The payer's smart wallet is not deployed on this network. Deploy it with any transaction, \
         then send the same payment again.",
    ),
    (
        "contract_wallet_rejected_signature",
        "The payer's account has code that does not accept the signature. Sign as its wallet \
         requires, remove the delegation (EIP-7702), or pay from a plain account.",
    ),
    (
        "contract_wallet_failed_recently",
        "The last payment of this wallet contract failed on chain. Wait an hour, or pay from a \
         plain account.",
    ),
    ("permit2_not_yet_valid", TOO_EARLY),
    ("permit2_payment_too_early", TOO_EARLY),
    ("upto_facilitator_mismatch", OTHER_FACILITATOR),
    ("upto_unauthorized_facilitator", OTHER_FACILITATOR),
    ("upto_amount_exceeds_permitted", TOO_LITTLE),
    ("invalid_upto_evm_payload_settlement_exceeds_amount", TOO_LITTLE),
    ("invalid_network", ASK_AGAIN),
    ("invalid_permit2_spender", ASK_AGAIN),
    ("invalid_permit2_recipient_mismatch", ASK_AGAIN),
    ("permit2_token_mismatch", ASK_AGAIN),
    ("permit2_amount_mismatch", ASK_AGAIN),
    ("extension_echo_mismatch", ASK_AGAIN),
    ("permit2_2612_amount_mismatch", BAD_PERMIT),
    ("eip2612_from_mismatch", BAD_PERMIT),
    ("eip2612_asset_mismatch", BAD_PERMIT),
    ("eip2612_spender_not_permit2", BAD_PERMIT),
    ("eip2612_deadline_expired", BAD_PERMIT),
    ("invalid_eip2612_signature", BAD_PERMIT),
    ("invalid_eip2612_extension_format", BAD_PERMIT),
    ("invalid_x402_version", UNREAD),
    ("unsupported_payload_type", UNREAD),
    ("payment_ambiguous", UNREAD),
];

/// The code with its meaning, or as it is where it is none of these.
pub(crate) fn explain(code: &str) -> String {
    match REASONS.iter().find(|(known, _)| *known == code) {
        Some((known, words)) => format!("{known}: {words}"),
        None => code.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    const BEGINNINGS: [&str; 7] = [
        "permit2_",
        "upto_",
        "eip2612_",
        "invalid_permit2_",
        "invalid_upto_",
        "invalid_eip2612_",
        "contract_wallet_",
    ];

    /// The code of our own service that deals with x402.
    fn sources() -> Vec<String> {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut folders = vec![crates.join("adapters/src"), crates.join("pay/src")];
        let mut sources = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let text = path.to_string_lossy();
                if path.is_dir() {
                    folders.push(path);
                } else if text.contains("x402") && text.ends_with(".rs") && !text.contains("test") {
                    sources.push(fs::read_to_string(path).unwrap());
                }
            }
        }
        sources
    }

    #[test]
    fn every_code_of_our_own_service_is_explained() {
        let sources = sources();
        let quoted = sources.iter().flat_map(|source| source.split('"'));
        let is_code = |text: &&str| {
            let plain = |letter: char| letter == '_' || letter.is_ascii_alphanumeric();
            text.chars().all(plain) && BEGINNINGS.iter().any(|start| text.starts_with(start))
        };
        let codes: Vec<&str> = quoted.filter(is_code).collect();
        assert!(codes.len() > 15, "{codes:?}");
        for code in codes {
            assert!(explain(code).len() > code.len(), "{code} has no words");
        }
    }

    #[test]
    fn other_text_is_returned_unchanged() {
        let words = "No matching payment requirements";
        assert_eq!(explain(words), words);
    }
}
