//! The signed payment as it travels: `Authorization: Payment`, with the challenge echoed.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};

use super::super::hex;
use super::super::wallet::Wallet;
use super::NETWORK;
use super::challenge::{CREDENTIAL_TYPE, SCHEME, Terms};
use super::transfer::{Transfer, nonce};

/// What comes back as it came, if it came. Nothing else is bound to the id.
const ECHOED: [&str; 9] =
    ["id", "realm", "method", "intent", "request", "description", "expires", "digest", "opaque"];

/// Signs, and writes the value of the header.
pub(super) fn sign(terms: &Terms<'_>, wallet: &Wallet) -> String {
    let transfer = Transfer {
        network: NETWORK,
        from: wallet.address(),
        to: terms.recipient,
        value: terms.amount,
        valid_before: terms.expires,
        nonce: nonce(terms.id, terms.realm),
    };
    let mut echo = Map::new();
    for name in ECHOED {
        if let Some(text) = terms.parameters.get(name) {
            echo.insert(name.to_owned(), Value::String(text.clone()));
        }
    }
    let credential = json!({
        "challenge": echo,
        "payload": {
            "type": CREDENTIAL_TYPE,
            "from": transfer.from.to_string(),
            "to": transfer.to.to_string(),
            "value": transfer.value.atomic().to_string(),
            "validAfter": "0",
            "validBefore": transfer.valid_before.to_string(),
            "nonce": hex::encode(&transfer.nonce),
            "signature": hex::encode(&wallet.sign(transfer.digest())),
        },
        "source": format!("did:pkh:{}:{}", NETWORK.caip2(), transfer.from),
    });
    format!("{SCHEME} {}", URL_SAFE_NO_PAD.encode(credential.to_string()))
}

#[cfg(test)]
mod tests;
