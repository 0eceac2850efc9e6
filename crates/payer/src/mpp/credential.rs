//! The signed payment as it is sent: `Authorization: Payment`, with the challenge echoed.

use evm::eip3009::Eip3009Transfer;
use evm::hex;
use evm::keccak::keccak256;
use evm::signature::SigningKey;
use evm::word::{self, Word};
use serde_json::{Map, Value, json};

use super::challenge::{CREDENTIAL_TYPE, NETWORK, SCHEME, SelectedChallenge};
use crate::values::account::EvmAccount;
use crate::values::header_json::encode_mpp;

/// What comes back as it came, if it came. Nothing else is bound to the id.
const ECHOED: [&str; 9] =
    ["id", "realm", "method", "intent", "request", "description", "expires", "digest", "opaque"];

/// Signs, and writes the value of the header.
pub(crate) fn sign(chosen: &SelectedChallenge<'_>, key: &SigningKey) -> String {
    let from = EvmAccount(key.address());
    let transfer = Eip3009Transfer {
        from: from.0,
        to: chosen.recipient.0,
        value: word::from_u64(chosen.amount.atomic()),
        // Valid from now on.
        valid_after: word::from_u64(0),
        valid_before: word::from_u64(chosen.expires),
        nonce: nonce(chosen.id, chosen.realm),
    };
    let digest = transfer.transfer_digest(NETWORK.usdc_domain());
    let mut echo = Map::new();
    for name in ECHOED {
        if let Some(text) = chosen.parameters.get(name) {
            echo.insert(name.to_owned(), Value::String(text.clone()));
        }
    }
    let credential = json!({
        "challenge": echo,
        "payload": {
            "type": CREDENTIAL_TYPE,
            "from": from.to_string(),
            "to": chosen.recipient.to_string(),
            "value": chosen.amount.atomic().to_string(),
            "validAfter": "0",
            "validBefore": chosen.expires.to_string(),
            "nonce": hex::encode(&transfer.nonce),
            "signature": hex::encode(&key.sign(digest)),
        },
        "source": format!("did:pkh:{}:{from}", NETWORK.caip2()),
    });
    format!("{SCHEME} {}", encode_mpp(&credential))
}

/// The nonce that binds a transfer to its challenge, as the draft of the method defines it.
/// The same challenge always gives the same one, so it cannot be paid twice.
fn nonce(id: &str, realm: &str) -> Word {
    keccak256(&[id.as_bytes(), realm.as_bytes()])
}

#[cfg(test)]
mod tests;
