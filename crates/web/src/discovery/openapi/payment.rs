//! The `x-payment-info` extension for payment registries.

use order::model::chain::Network;
use order::model::money::CEILING;
use serde_json::{Value, json};

/// The payment protocol of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PaymentProtocol {
    X402,
    Mpp,
}

/// The minimum price in dollars, which registries require.
const MINIMUM_PRICE: &str = "0.01";

/// Two formats of this extension are in use: `offers` in the MPP draft, `price` and `protocols` in
/// the registries of x402. Each ignores the members of the other. x402 has no offers.
pub(super) fn info(payment: PaymentProtocol) -> Value {
    match payment {
        PaymentProtocol::X402 => json!({
            "price": {
                "mode": "dynamic",
                "currency": "USD",
                "min": MINIMUM_PRICE,
                "max": CEILING.to_string(),
            },
            "protocols": [{ "x402": {} }],
        }),
        PaymentProtocol::Mpp => json!({
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
