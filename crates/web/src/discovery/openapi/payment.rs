//! What registries of paid services read about an operation.

use order::model::chain::Network;
use order::model::money::CEILING;
use serde_json::{Value, json};

/// How an operation is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Payment {
    X402,
    Mpp,
}

/// What the cheapest card could cost, in dollars. Registries want some minimum.
const LEAST: &str = "0.01";

/// Two shapes are in use for the same extension. `offers` is what MPP's draft
/// asks for, `price` and `protocols` what x402's registries do; each ignores
/// the other's members. Offers are MPP's, so x402 has none.
pub(super) fn info(payment: Payment) -> Value {
    match payment {
        Payment::X402 => json!({
            "price": {
                "mode": "dynamic",
                "currency": "USD",
                "min": LEAST,
                "max": CEILING.to_string(),
            },
            "protocols": [{ "x402": {} }],
        }),
        Payment::Mpp => json!({
            "offers": [{
                "intent": "charge",
                "method": "evm",
                "amount": CEILING.atomic().to_string(),
                "currency": Network::Base.usdc().to_string(),
                "description": "One 4x6 postcard, all in, in USDC on Base.",
            }],
            "price": { "mode": "fixed", "currency": "USD", "amount": CEILING.to_string() },
            "protocols": [{
                "mpp": {
                    "method": "evm",
                    "intent": "charge",
                    "currency": Network::Base.usdc().to_string(),
                },
            }],
        }),
    }
}
